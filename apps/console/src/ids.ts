import { DELETED_LISTED, WITHDRAWN_MAX, WithdrawnView, WithdrawQuery } from '@slowwave/contracts';
import { namedIdsIn } from '@slowwave/engine';
import { routesOf } from './deps.ts';
import { deletedView } from './memories.ts';

const route = routesOf('manage');

export const withdrawMemories = route('DELETE /v1/ids/memories', {
  id: 'withdrawMemories',
  summary: 'Withdraw what was said under an agent, run or app',
  description:
    'Applies to the memories of all owners that match all of the given ids. A memory that was said nowhere else is deleted, and ' +
    'can be restored. A memory that was also said elsewhere keeps what was said there; POST /v1/undos/{id}/redo reverts that. ' +
    `At most about ${WITHDRAWN_MAX} memories per request: repeat it while more is true.`,
  query: WithdrawQuery,
  answer: { 200: WithdrawnView, 202: WithdrawnView },
  handle: async ({ withdrawer }, { tenant, query, reply }) => {
    const dryRun = query.dry_run === 'true';
    const how = { dryRun, most: WITHDRAWN_MAX, listed: DELETED_LISTED };
    const { first, searchable, ...counts } = await withdrawer.withdraw(tenant, namedIdsIn(query), how);
    if (!searchable) reply.code(202);
    return { ...counts, dry_run: dryRun, memories: first.map(deletedView) };
  },
});

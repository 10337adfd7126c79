import type { BatchList, BatchState } from '@slowwave/contracts';
import type { z } from 'zod';
import { withApi } from '../api/ask.ts';
import { listUpTo } from '../api/list-up-to.ts';
import { countOf, momentOf, oneOf } from '../arguments.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Column, table } from '../output/table.ts';

export type BatchLine = z.infer<typeof BatchList>['results'][number];

const STATES: readonly BatchState[] = ['pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone'];

const LIMIT_USUAL = 50;
const LIMIT_MAX = 100_000;

export const batchesCommand: Command = {
  name: 'batches',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'List batches, newest first.',
  about: '',
  options: {
    state: { value: 'STATE', about: `Only those that are ${STATES.join(', ')}.` },
    user: { value: 'ID', about: 'Only batches of this user.' },
    since: {
      value: 'MOMENT',
      about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
    },
    limit: { value: 'N', about: `Maximum number to list. Default: ${LIMIT_USUAL}.` },
  },
  run: (call) => {
    const { given, out } = call;
    const query = {
      state: oneOf(given, 'state', STATES),
      user_id: given.text('user'),
      since: momentOf(given, 'since'),
    };
    const limit = countOf(given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
    return withApi(call, { writes: false }, async (ask) => {
      const { items: batches, more } = await listUpTo<BatchLine>(ask, { path: '/v1/batches', query, limit });
      const rest = more ? '\n… and more; raise --limit to see them' : '';
      out.answer({ batches, more }, table(COLUMNS, batches) + rest);
      return EXIT.done;
    });
  },
};

const COLUMNS: readonly Column<BatchLine>[] = [
  { name: 'accepted', of: ({ timings }) => timings.accepted_at },
  { name: 'batch', of: ({ id }) => id },
  { name: 'owner', of: ownerText },
  { name: 'state', of: ({ state }) => state },
  { name: 'tries', of: ({ attempts }) => attempts },
  { name: 'messages', of: ({ messages }) => messages },
  { name: 'error', of: ({ error }) => error?.code ?? '' },
];

/** Whose it is: the first given of user, agent and run. */
export function ownerText({ user_id, agent_id, run_id }: Pick<BatchLine, 'user_id' | 'agent_id' | 'run_id'>): string {
  if (user_id !== null) return `user ${user_id}`;
  return agent_id === null ? `run ${run_id}` : `agent ${agent_id}`;
}

import { PostReplay, ReplayView } from '@slowwave/contracts';
import type { ParkedFilter, TenantId } from '@slowwave/engine';
import { type App, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

/** Most batches one request replays; the same request again takes the next. */
const REPLAY_MAX = 1_000;

const schema = {
  tags: ['manage'],
  summary: 'Try parked batches again',
  description: `They wait again at their old positions, with their attempts at zero. At most ${REPLAY_MAX} at once, oldest first.`,
  body: PostReplay,
  response: { 200: ReplayView },
};

export function postReplay(app: App, deps: ConsoleDeps): void {
  app.post('/v1/replays', { schema }, async (request) => {
    const tenant = requestTenant(request) as TenantId;
    const { filter, dry_run } = request.body;
    const parked = await deps.ledger.batches.parked(tenant, filterOf(filter), REPLAY_MAX);
    const ids = parked.map(({ id }) => id);
    const replayed = dry_run ? [] : await replay(deps, tenant, ids);
    return { dry_run, matched: ids.length, replayed: replayed.length, batch_ids: dry_run ? ids : [...replayed] };
  });
}

const filterOf = (filter: PostReplay['filter']): ParkedFilter => ({
  ...(filter.batch_ids !== undefined && { ids: filter.batch_ids }),
  ...(filter.user_id !== undefined && { userId: filter.user_id }),
  ...(filter.error_code !== undefined && { errorCode: filter.error_code }),
  ...(filter.since !== undefined && { since: Date.parse(filter.since) }),
});

async function replay(deps: ConsoleDeps, tenant: TenantId, ids: readonly string[]): Promise<readonly string[]> {
  const { replayed, nudges } = await deps.ledger.batches.replay(tenant, ids, deps.tools.now());
  deps.nudge(nudges).catch((err: unknown) => {
    deps.log.warn({ err, turns: nudges.length }, 'replayed turns were not scheduled; the sweep will do it');
  });
  return replayed;
}

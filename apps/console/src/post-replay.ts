import { PostReplay, ReplayRehearsal, ReplayView } from '@slowwave/contracts';
import { type ReplayFilter, startReplay, type TenantId } from '@slowwave/engine';
import { type App, idempotencyOf, KeyHeader, problem, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { rehearsalView, replayProgress } from './views/replay.ts';

/** Batches a dry run shows. */
const SAMPLE = 20;

const schema = {
  tags: ['manage'],
  summary: 'Try parked batches again',
  description:
    'They wait again at their old positions, with their attempts at zero, and keep when they were said: what was said ' +
    'since is not overwritten. Thousands are put back in slices, in the background. With dry_run nothing is changed.',
  headers: KeyHeader,
  body: PostReplay,
  response: { 200: z.union([ReplayRehearsal, ReplayView]), 202: ReplayView },
};

export function postReplay(app: App, deps: ConsoleDeps): void {
  app.post('/v1/replays', { schema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const filter = filterOf(request.body.filter);
    if (request.body.dry_run) return rehearsalView(await deps.ledger.replays.match(tenant, filter, SAMPLE));
    const key = idempotencyOf(request.headers['idempotency-key'], request.body.idempotency_key);
    const started = await startReplay(deps, { tenant, filter, key });
    if (started.kind === 'conflict') throw otherReplay(key);
    reply.header('location', `/v1/replays/${started.replay.id}`);
    return reply.code(started.kind === 'repeated' ? 200 : 202).send(await replayProgress(deps, started.replay));
  });
}

const filterOf = (filter: PostReplay['filter']): ReplayFilter => ({
  states: [filter.state],
  ...(filter.batch_ids !== undefined && { ids: filter.batch_ids }),
  ...(filter.user_id !== undefined && { userId: filter.user_id }),
  ...(filter.error_code !== undefined && { errorCode: filter.error_code }),
  ...(filter.since !== undefined && { since: Date.parse(filter.since) }),
  ...(filter.until !== undefined && { until: Date.parse(filter.until) }),
});

const otherReplay = (key: string | null) =>
  problem(
    'idempotency_conflict',
    `the idempotency key ${JSON.stringify(key)} came before with another replay; ` +
      'send the first body again, or choose a new key for a new replay',
  );

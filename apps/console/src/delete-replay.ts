import { ReplayView } from '@slowwave/contracts';
import { discardSpace, type TenantId } from '@slowwave/engine';
import { type App, IdParams, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { existingReplay, replayProgress } from './views/replay.ts';

const schema = {
  operationId: 'discardReplay',
  tags: ['manage'],
  summary: 'Discard a what-if',
  description: 'Deletes its shadow space in the background. The result stays readable.',
  params: IdParams,
  response: { 202: ReplayView },
};

export function deleteReplay(app: App, deps: ConsoleDeps): void {
  app.delete('/v1/replays/:id', { schema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const replay = await existingReplay(deps, tenant, request.params.id);
    if (replay.kind === 'live') throw nothingToDiscard(replay.id);
    await discardSpace(deps, replay);
    return reply.code(202).send(await replayProgress(deps, await existingReplay(deps, tenant, replay.id)));
  });
}

const nothingToDiscard = (id: string) =>
  problem(
    'conflict',
    `replay ${id} is a live replay of parked batches and has no shadow space; only what-ifs can be discarded`,
  );

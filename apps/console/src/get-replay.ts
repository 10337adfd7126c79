import { ReplayView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { replayProgress } from './views/replay.ts';

const schema = {
  tags: ['manage'],
  summary: 'How far a replay is',
  params: IdParams,
  response: { 200: ReplayView },
};

export function getReplay(app: App, deps: ConsoleDeps): void {
  app.get('/v1/replays/:id', { schema }, async (request) => {
    const { id } = request.params;
    const replay = await deps.ledger.replays.get(requestTenant(request) as TenantId, id);
    if (replay === null) throw notFound('replay', id);
    return replayProgress(deps, replay);
  });
}

import { ListReplaysQuery, ReplayList } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { replaySummary } from './views/replay.ts';

const schema = {
  operationId: 'listReplays',
  tags: ['manage'],
  summary: 'List replays, newest first',
  querystring: ListReplaysQuery,
  response: { 200: ReplayList },
};

export function listReplays(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/replays', { schema }, async (request) => {
    const page = await ledger.replays.list(requestTenant(request) as TenantId, pageOf(request.query));
    return listed(page, replaySummary);
  });
}

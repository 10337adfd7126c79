import { ListUndosQuery, UndoList } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, type Bounds, listed, pageOf, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { undoView } from './views/undo.ts';

const schema = {
  operationId: 'listUndos',
  tags: ['manage'],
  summary: 'List undos, rollbacks and redos, newest first',
  querystring: ListUndosQuery,
  response: { 200: UndoList },
};

const bounds: Bounds = { by: 'query', apps: false };

export function listUndos(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/undos', { schema, config: { bounds } }, async (request) => {
    const { user_id } = request.query;
    const filter = user_id === undefined ? {} : { userId: user_id };
    return listed(await ledger.undos.list(requestTenant(request) as TenantId, filter, pageOf(request.query)), undoView);
  });
}

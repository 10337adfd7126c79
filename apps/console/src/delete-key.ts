import { KeyQuery, KeyView } from '@slowwave/contracts';
import { type App, IdParams, notFound } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { tenantNamed } from './tenant-named.ts';
import { keyView } from './views/key.ts';

const schema = {
  operationId: 'revokeKey',
  tags: ['keys'],
  summary: 'Revoke a key',
  description: 'Permanent. Takes effect in every process within 5 s. The key stays in the list.',
  params: IdParams,
  querystring: KeyQuery,
  response: { 200: KeyView },
};

export function deleteKey(app: App, { ledger, tools }: ConsoleDeps): void {
  app.delete('/v1/keys/:id', { schema }, async (request) => {
    const { id } = request.params;
    const key = await ledger.keys.revoke(tenantNamed(request, request.query.tenant), id, tools.now());
    if (key === null) throw notFound('key', id);
    return keyView(key);
  });
}

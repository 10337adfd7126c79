import { KeyList, ListKeysQuery } from '@slowwave/contracts';
import { type App, listed, pageOf } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { tenantNamed } from './tenant-named.ts';
import { keyView } from './views/key.ts';

const schema = {
  operationId: 'listKeys',
  tags: ['keys'],
  summary: 'List keys, newest first, including expired and revoked ones',
  querystring: ListKeysQuery,
  response: { 200: KeyList },
};

export function listKeys(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/keys', { schema }, async (request) => {
    const tenant = tenantNamed(request, request.query.tenant);
    return listed(await ledger.keys.list(tenant, pageOf(request.query)), keyView);
  });
}

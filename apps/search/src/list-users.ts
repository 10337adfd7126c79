import { ListUsersQuery, UserList } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, listed, pageOf, requestTenant } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';
import { userView } from './views.ts';

const schema = {
  operationId: 'listUsers',
  tags: ['memories'],
  summary: 'List the users, agents and runs that own memories or have waiting batches',
  querystring: ListUsersQuery,
  response: { 200: UserList },
};

export function listUsers(app: App, { ledger }: SearchDeps): void {
  app.get('/v1/users', { schema }, async (request) => {
    const page = await ledger.overview.owners(requestTenant(request) as TenantId, pageOf(request.query));
    return listed(page, userView);
  });
}

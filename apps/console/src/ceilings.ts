import { CeilingsView, PutCeilings, TenantParams } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import type { App } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const PATH = '/v1/tenants/:id/ceilings';
const tags = ['keys'];
const response = { 200: CeilingsView };

const getSchema = {
  operationId: 'getCeilings',
  tags,
  summary: "Get a tenant's daily limits",
  params: TenantParams,
  response,
};

const putSchema = {
  operationId: 'putCeilings',
  tags,
  summary: "Set a tenant's daily limits",
  description:
    'Overrides the limits for all tenants. The tenant’s own budgets can be lower, but not higher. Once a limit is ' +
    'reached, batches wait for the next day (UTC) and previews are refused.',
  params: TenantParams,
  body: PutCeilings,
  response,
};

const deleteSchema = {
  operationId: 'deleteCeilings',
  tags,
  summary: "Reset a tenant's daily limits to those for all tenants",
  params: TenantParams,
  response,
};

/** What the operator allows a tenant, whatever the tenant's own settings say. */
export function ceilingsRoutes(app: App, { ledger, ceilings: ofAll }: ConsoleDeps): void {
  const viewOf = async (id: string): Promise<CeilingsView> => {
    const own = await ledger.settings.ceilings(id as TenantId);
    const { tokensPerDay, costPerDay } = own ?? ofAll;
    return { tenant: id, tokens_per_day: tokensPerDay, cost_per_day: costPerDay, own: own !== null };
  };
  app.get(PATH, { schema: getSchema }, async ({ params }) => viewOf(params.id));
  app.put(PATH, { schema: putSchema }, async ({ params, body }) => {
    const { tokens_per_day: tokensPerDay, cost_per_day: costPerDay } = body;
    await ledger.settings.putCeilings(params.id as TenantId, { tokensPerDay, costPerDay });
    return viewOf(params.id);
  });
  app.delete(PATH, { schema: deleteSchema }, async ({ params }) => {
    await ledger.settings.putCeilings(params.id as TenantId, null);
    return viewOf(params.id);
  });
}

import { CeilingsView, ExaminationView, GetDoctorQuery, PutCeilings, TenantParams } from '@slowwave/contracts';
import { isoOf, type TenantId } from '@slowwave/engine';
import type { App } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

/** The state of the installation, and what each tenant may use. */
export function operatorRoutes(app: App, deps: ConsoleDeps): void {
  getDoctor(app, deps);
  ceilingsRoutes(app, deps);
}

const getDoctorSchema = {
  operationId: 'getDoctor',
  tags: ['manage'],
  summary: 'Check the installation for problems and how to fix them',
  description: 'Checks the whole installation. Changes nothing and does not interrupt other work.',
  querystring: GetDoctorQuery,
  response: { 200: ExaminationView },
};

function getDoctor(app: App, { examine }: ConsoleDeps): void {
  app.get('/v1/doctor', { schema: getDoctorSchema }, async (request) => {
    const { depth } = request.query;
    const { at, healthy, checks, findings } = await examine({ depth, cancel: app.stopping });
    return {
      at: isoOf(at),
      depth,
      healthy,
      checks: [...checks],
      findings: findings.map((finding) => ({ ...finding, examples: [...finding.examples] })),
    };
  });
}

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
function ceilingsRoutes(app: App, { ledger, ceilings: ofAll }: ConsoleDeps): void {
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

import type { StepModels } from '@slowwave/engine';
import { isOperator, principalOf, problem } from '@slowwave/http';
import type { FastifyRequest } from 'fastify';
import type { ConsoleDeps } from './deps.ts';

/** A chat model that a body names, and where. */
interface Named {
  readonly path: string;
  readonly model: string;
}

/** Models that a body names for steps. */
export const namedIn = (models: StepModels, path = 'models'): readonly Named[] =>
  Object.entries(models).map(([step, model]) => ({ path: `${path}.${step}`, model }));

/** Throws if one of them cannot be asked, or not by whoever names it. */
export function refuseModels(deps: ConsoleDeps, request: FastifyRequest, named: readonly Named[]): void {
  for (const one of named) {
    refuseUnknown(deps, one);
    if (!isOperator(principalOf(request))) refuseForbidden(deps, one);
  }
}

function refuseUnknown({ otherChat }: ConsoleDeps, { path, model }: Named): void {
  if (otherChat(model, null) !== null) return;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} cannot be used: no model server is configured; set OPENAI_BASE_URL or ` +
      'OPENAI_API_KEY',
    { errors: [{ path, message: 'expected builtin' }] },
  );
}

/** The operator pays for the models, so tenants may only use those on the operator's list. */
function refuseForbidden({ tenantModels }: ConsoleDeps, { path, model }: Named): void {
  if (tenantModels.includes(model)) return;
  const expected = `expected one of ${tenantModels.join(', ')}`;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} is not allowed for tenants: ${expected}; or ask the operator to add it to ` +
      'SLOWWAVE_TENANT_MODELS',
    { errors: [{ path, message: expected }] },
  );
}

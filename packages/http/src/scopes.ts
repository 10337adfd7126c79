import type { KeyScope } from '@slowwave/contracts';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { isOperator, type Principal } from './principal.ts';
import { type ProblemError, problem } from './problem.ts';
import type { App } from './types.ts';

/** What a route needs of a key. any: that it is one. operator: admin of the tenant that looks after the installation. */
export type RouteScope = KeyScope | 'any' | 'operator';

/** What the routes need that are added to this app, or in a plugin of it, from now on. */
export function needScope(app: App, scope: RouteScope): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, scope };
    if (route.url.startsWith('/v1/')) describe(route, scope);
  });
}

/** Tells in the description of the API which role a key needs. */
function describe(route: RouteOptions, scope: RouteScope): void {
  route.schema = { ...route.schema, security: [{ key: scope === 'any' ? [] : [scope] }] };
}

/** Why a request may not do what it asks for; null: it may. A route that says nothing is for operators. */
export function refusalOfScope(request: FastifyRequest, principal: Principal): ProblemError | null {
  const { scope = 'operator' } = request.routeOptions.config;
  if (request.is404 || scope === 'any') return null;
  if (scope === 'operator') return isOperator(principal) ? null : operatorsOnly();
  const { scopes } = principal;
  if (scopes.includes(scope) || scopes.includes('admin')) return null;
  return problem('scope_missing', `expected a key with the scope ${scope}, got one with ${scopes.join(', ')}`);
}

const operatorsOnly = (): ProblemError =>
  problem(
    'scope_missing',
    'this affects the whole installation and requires a key of the tenant default with the scope admin',
  );

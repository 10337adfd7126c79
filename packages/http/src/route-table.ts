import { z } from 'zod';
import type { App } from './types.ts';

/** Keeps every route that is added and tells which methods a path takes. Add it before the routes. */
export function registerRouteTable(app: App): (path: string) => readonly string[] {
  const table: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook('onRoute', (route) => {
    const methods = [route.method].flat();
    table.push({ pattern: patternOf(route.url), methods });
    if (route.url.startsWith('/v1/')) refuseUnknownQuery(route);
  });
  return (path) => {
    const fitting = table.filter(({ pattern }) => pattern.test(path));
    return [...new Set(fitting.flatMap(({ methods }) => methods))].sort();
  };
}

/** A route that declares no query parameters takes none: a misspelt one must not be ignored. */
function refuseUnknownQuery(route: { schema?: { querystring?: unknown } }): void {
  const schema = route.schema ?? {};
  if (schema.querystring === undefined) route.schema = { ...schema, querystring: z.strictObject({}) };
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  });
  return new RegExp(`^${parts.join('/')}$`);
}

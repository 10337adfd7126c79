import { CLASSES, OF_CELLS } from '@slowwave/router';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get } from './client.ts';
import { readRules } from './proxy-rules.ts';
import { fourProcesses, type Setup } from './setups.ts';

let setup: Setup;
beforeAll(async () => {
  setup = await fourProcesses();
});
afterAll(() => setup.close());

test.each(['ingest', 'search', 'console'] as const)(
  'every route of %s gets there through the proxy',
  async (program) => {
    const programOf = await readRules();
    const requests = (await routesOf(program)).map((route) => route.replaceAll(/\{\w+\}/g, 'an-id'));
    expect(requests).not.toEqual([]);
    const strays = requests.filter((request) => programOf(request) !== program);
    expect(strays, 'add patterns to infra/docker/nginx.conf and infra/k8s/base/proxy.conf').toEqual([]);
  },
);

test('the router of cells has each route in exactly one class', async () => {
  const routes = await Promise.all((['ingest', 'search', 'console'] as const).map(routesOf));
  const isOfOneCell = (route: string): boolean => `${route}/`.includes(` ${OF_CELLS}/`);
  const ofOwners = routes.flat().filter((route) => !isOfOneCell(route));
  expect(Object.keys(CLASSES).sort(), 'a route belongs in apps/router/src/classes.ts').toEqual(ofOwners.sort());
});

/** The routes of the product that a process describes. */
async function routesOf(program: 'ingest' | 'search' | 'console'): Promise<readonly string[]> {
  const { body } = await get(`${setup[program]}/openapi.json`);
  return Object.entries(body.paths as Record<string, Record<string, unknown>>)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
}

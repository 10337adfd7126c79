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
    const { body } = await get(`${setup[program]}/openapi.json`);
    const requests = Object.entries(body.paths as Record<string, Record<string, unknown>>)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'an-id')}`),
      );
    expect(requests).not.toEqual([]);
    expect(requests.filter((request) => programOf(request) !== program)).toEqual([]);
  },
);

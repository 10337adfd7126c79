import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { get } from './client.ts';
import { fourProcesses, type Setup } from './setups.ts';

/** The proxy of docker-compose.yml: which program answers what. Its first matching line wins. */
interface Rule {
  readonly pattern: RegExp;
  readonly program: string;
}

const fileOf = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

async function readRules(): Promise<(request: string) => string> {
  const text = await fileOf('infra/docker/nginx.conf');
  const map = /map "\$request_method \$uri" \$program \{(.*?)\n\}/s.exec(text)?.[1] ?? '';
  const rules: Rule[] = [...map.matchAll(/"~([^"]+)" +([a-z]+):\d+;/g)].map(([, pattern = '', program = '']) => ({
    pattern: new RegExp(pattern),
    program,
  }));
  const usual = /default +([a-z]+):\d+;/.exec(map)?.[1] ?? '';
  return (request) => rules.find(({ pattern }) => pattern.test(request))?.program ?? usual;
}

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

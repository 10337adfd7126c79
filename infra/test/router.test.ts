import { readRouterConfig } from '@slowwave/adapters/config';
import { expect, test } from 'vitest';
import { parseCompose } from './compose-file.ts';
import { PINNED, stopSeconds, textOf, yamlOf } from './files.ts';

const PATH = 'infra/docker/router.yml';

test('the router runs from the same image, contained like the other programs, with settings that it reads', async () => {
  const [file] = await yamlOf(PATH);
  const { router, ...others } = parseCompose(file).services;
  expect(others).toEqual({});
  expect(router).toMatchObject({
    ...{ read_only: true, restart: 'unless-stopped', cap_drop: ['ALL'], user: 'node' },
    ...{ security_opt: ['no-new-privileges:true'], logging: { driver: 'local' } },
    command: ['node', 'bin/slowwave.cjs', 'start', 'router'],
  });
  expect(router?.image).toMatch(PINNED);
  expect(router?.image).toBe((await textOf('docker-compose.yml')).match(/slowwave:[\d.]+/)?.[0]);
  expect(Number.parseInt(router?.stop_grace_period ?? '', 10)).toBeGreaterThan(await stopSeconds());
  const given = Object.entries(router?.environment ?? {}).map(([name, value]) => [
    name,
    /:-(.+)\}$/.exec(value)?.[1] ?? '',
  ]);
  const config = readRouterConfig({ ...Object.fromEntries(given), SLOWWAVE_API_KEY: 'the-key-of-the-operator' });
  expect(config.directory).toBe('/data/directory.db');
  const port = String(config.port);
  expect([router?.ports, router?.healthcheck.test.at(-1)]).toEqual([
    [`127.0.0.1:${port}:${port}`],
    expect.stringContaining(`http://127.0.0.1:${port}/healthz`),
  ]);
  // What its first lines say is a command that there is.
  expect(await textOf(PATH)).toContain('bin/slowwave.cjs cells add');
});

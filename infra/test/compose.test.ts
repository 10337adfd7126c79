import { join, normalize } from 'node:path';
import { ENVIRONMENT, readServiceConfig } from '@slowwave/adapters/config';
import { expect, test } from 'vitest';
import { parseCompose, readCompose, readComposeWith, type Service } from './compose-file.ts';
import { PINNED, programs, stopSeconds, textOf } from './files.ts';

const compose = await readCompose();
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('slowwave:'));
const networksOf = (service: Service | undefined): readonly string[] => {
  const networks = service?.networks ?? ['default'];
  return Array.isArray(networks) ? networks : Object.keys(networks);
};

test('a word that Compose does not know, or a value of the wrong kind, is noticed', () => {
  const { proxy } = compose.services;
  const withProxy = (service: object) => () => parseCompose({ ...compose, services: { proxy: service } });
  expect(withProxy({ ...proxy })).not.toThrow();
  expect(withProxy({ ...proxy, healthchek: {} })).toThrow('healthchek');
  expect(withProxy({ ...proxy, ports: 7070 })).toThrow('expected array');
});

test.each(services)('%s is pinned, watched, without root and contained', (_name, service) => {
  expect(service).toMatchObject({ read_only: true, restart: 'unless-stopped', cap_drop: ['ALL'] });
  expect(service).toMatchObject({ security_opt: ['no-new-privileges:true'], logging: { driver: 'local' } });
  expect(service.image).toMatch(PINNED);
  expect(service.user).toMatch(/^(?!root|0)\S+$/);
  expect(service.healthcheck.test[0]).toBe('CMD');
  expect(service.healthcheck).toMatchObject({ interval: '10s', timeout: '5s', retries: 3 });
});

test('every program runs, is asked on its own port, and is left longer to stop than it takes', async () => {
  const limit = await stopSeconds();
  for (const { name, port } of await programs()) {
    const service = compose.services[name];
    expect(service?.command).toEqual(['node', 'bin/slowwave.cjs', 'start', name]);
    expect(service?.healthcheck.test.at(-1)).toContain(`http://127.0.0.1:${port}/readyz`);
    expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(limit);
  }
});

test('all programs have the same settings, so that whichever run there is one ledger, one queue and one index', () => {
  expect(ours.map(([name]) => name)).toEqual(['ingest', 'worker', 'worker-scale', 'search', 'console']);
  const [first, ...others] = ours.map(([, { environment }]) => environment);
  for (const other of others) expect(other).toEqual(first);
  expect(first?.SLOWWAVE_API_KEY).toMatch(/^\$\{SLOWWAVE_API_KEY:\?/);
  expect(Object.keys(first ?? {}).filter((name) => !(name in ENVIRONMENT.shape))).toEqual([]);
  expect(first).toMatchObject({
    REDIS_URL: 'redis://redis:6379',
    QDRANT_URL: expect.stringContaining('//qdrant:6333'),
  });
});

test('with a password the ledger is the PostgreSQL of the profile scale, which cannot do without', () => {
  const { environment = {}, entrypoint = [] } = compose.services.postgres ?? {};
  const { POSTGRES_USER: user, POSTGRES_DB: database } = environment;
  const url = `postgres://${user}:$\{POSTGRES_PASSWORD}@postgres:5432/${database}`;
  const ledger = compose.services.ingest?.environment?.DATABASE_URL;
  expect(ledger).toBe(`$\{DATABASE_URL:-$\{POSTGRES_PASSWORD:+${url}}}`);
  expect(environment.POSTGRES_PASSWORD).toBe(`$\{POSTGRES_PASSWORD:-}`);
  expect(entrypoint.at(-1)).toContain('$${POSTGRES_PASSWORD:?');
});

test('on PostgreSQL alone every program keeps everything there, within the connections that the server allows', async () => {
  const alone = await readComposeWith('infra/docker/postgres-alone.yml');
  expect(['redis', 'qdrant'].map((name) => alone.services[name]?.profiles)).toEqual([['never'], ['never']]);
  const own = Object.entries(alone.services).filter(([, { image }]) => image.startsWith('slowwave:'));
  let connections = 0;
  for (const [name, { environment = {}, depends_on = {}, deploy }] of own) {
    const [, each] =
      /^\$\{SLOWWAVE_DATABASE_CONNECTIONS:-(\d+)\}$/.exec(environment.SLOWWAVE_DATABASE_CONNECTIONS ?? '') ?? [];
    connections += Number(each) * (deploy?.replicas ?? 1);
    const { REDIS_URL, QDRANT_URL, SLOWWAVE_INDEX } = environment;
    const settings = { REDIS_URL, QDRANT_URL, SLOWWAVE_INDEX, DATABASE_URL: 'postgres://postgres/slowwave' };
    const config = readServiceConfig(7_070, { queue: true }, settings);
    expect(config, name).toMatchObject({ redisUrl: null, qdrant: null, indexInDatabase: true });
    expect(depends_on.postgres, name).toEqual({ condition: 'service_healthy', required: true });
    expect([depends_on.redis?.required, depends_on.qdrant?.required], name).toEqual([false, false]);
  }
  expect(own).toHaveLength(5);
  expect(connections).toBeLessThanOrEqual(100 - 3);
});

test('the profile scale adds PostgreSQL and workers that wait for it, and nothing else', () => {
  const added = services.filter(([, { profiles }]) => profiles !== undefined);
  expect(added.map(([name, { profiles }]) => [name, profiles])).toEqual([
    ['postgres', ['scale']],
    ['worker-scale', ['scale']],
  ]);
  const { command, deploy, depends_on, networks } = compose.services['worker-scale'] ?? {};
  expect(command).toEqual(compose.services.worker?.command);
  expect(deploy?.replicas).toBeGreaterThan(1);
  expect(depends_on?.postgres).toEqual({ condition: 'service_healthy' });
  expect(networks).toMatchObject({ default: { aliases: ['worker'] } });
});

test('every program waits for its servers, for PostgreSQL only where that runs', () => {
  for (const [name, { depends_on, profiles }] of ours) {
    expect(Object.keys(depends_on ?? {}), name).toEqual(['redis', 'qdrant', 'postgres']);
    expect(depends_on?.postgres?.required, name).toBe(profiles === undefined ? false : undefined);
  }
});

test('only the proxy is reached from outside, and servers only by the programs', () => {
  expect(services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).toEqual([
    ['proxy', '127.0.0.1:7070:7070'],
  ]);
  expect(compose.networks.servers).toEqual({ internal: true });
  for (const name of ['redis', 'qdrant', 'postgres']) {
    expect(networksOf(compose.services[name]), name).toEqual(['servers']);
  }
  expect(networksOf(compose.services.proxy)).toEqual(['default']);
});

test('every volume that is named is there, and what must last is on one', () => {
  const named = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0] ?? ''));
  expect(new Set(named.filter((name) => !name.startsWith('.')))).toEqual(new Set(Object.keys(compose.volumes)));
  expect(compose.services.postgres?.volumes).toEqual(['ledger:/var/lib/postgresql/data']);
});

test('the image is built on a pinned one, and is not root', async () => {
  const dockerfile = await textOf('infra/docker/Dockerfile');
  expect(dockerfile).toMatch(/\nUSER node\n/);
  const stages = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, name]) => name);
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  for (const image of images.filter((name) => !stages.includes(name))) expect(image).toMatch(PINNED);
});

test('the image is built from files that reach it: what is copied, and what the console in the browser is built by', async () => {
  const dockerfile = await textOf('infra/docker/Dockerfile');
  const reaching = (await textOf('infra/docker/Dockerfile.dockerignore')).match(/(?<=^!).*$/gm) ?? [];
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  for (const name of copied) expect(reaching.some((path) => path === name || path.startsWith(`${name}/`))).toBe(true);
  const { extends: base } = JSON.parse(await textOf('apps/web/tsconfig.json'));
  expect(copied).toContain(normalize(join('apps/web', base)));
});

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDirectory } from '@slowwave/adapters/cells';
import { DEFAULT_TENANT } from '@slowwave/engine';
import { SLOTS } from '@slowwave/engine/cells';
import {
  askerOf,
  freePort,
  OPERATOR_KEY,
  type OwnServer,
  programFile,
  type Service,
  SILENT_LOG,
  spawnService,
  startOwnServer,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { program, slowwave } from './slowwave.ts';

const USERS = ['ana', 'bo', 'cy', 'di', 'ed', 'flo', 'gus', 'hal'];
const PATIENCE = { timeout: 60_000, interval: 100 };
const WITHIN_MS = 300_000;

let west: OwnServer;
let east: OwnServer;
let router: Service;
let url: string;
let folder: Awaited<ReturnType<typeof tempDir>>;
let directory: string;
const ask = askerOf(() => url);

beforeAll(async () => {
  folder = await tempDir();
  directory = join(folder.path, 'directory.db');
  const cell = (name: string) => startOwnServer({ SLOWWAVE_API_KEY: OPERATOR_KEY, SLOWWAVE_CELL: name });
  [west, east] = await Promise.all([cell('west'), cell('east')]);
  // The program itself once; all else runs here, which is a start less each time.
  expect((await program(['cells', 'add', 'west', west.url], settings())).code).toBe(0);
  const port = String(await freePort());
  url = `http://127.0.0.1:${port}`;
  router = await spawnService({
    main: programFile('router'),
    env: { ...settings(), SLOWWAVE_PORT: port },
    ready: { url: `${url}/readyz` },
  });
  await Promise.all(USERS.map((user) => say(user, `I am ${user} and I live in Oslo.`)));
  expect((await cells('add', 'east', east.url)).code).toBe(0);
}, WITHIN_MS);
afterAll(async () => {
  await router?.stop();
  await Promise.all([west, east].map((cell) => cell?.close()));
  await folder?.remove();
});

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

const settings = () => ({
  SLOWWAVE_API_KEY: OPERATOR_KEY,
  SLOWWAVE_DIRECTORY: directory,
  SLOWWAVE_LOG_LEVEL: 'silent',
});

/** slowwave cells …, as an operator says it. */
async function cells(...args: readonly string[]): Promise<Ended> {
  const { code, out, err } = await slowwave(['cells', ...args], settings());
  return { code, said: `${out}${err}` };
}

const say = (user_id: string, content: string) =>
  ask('POST /v1/batches?wait=60000', { user_id, flush: true, messages: [{ role: 'user', content }] });
const search = (user_id: string, at?: string) =>
  ask('POST /v1/search', { user_id, query: 'where does the user live?' }, { at });
const usersIn = async (url: string): Promise<string[]> =>
  (await ask('GET /v1/cell/owners?limit=100', undefined, { at: url })).body.results.map(({ id }: { id: string }) => id);

test(
  'a home that moves back and forth loses no change, and makes none twice',
  async () => {
    const names: string[] = [];
    let isMoving = true;
    const changing = Array.from({ length: 4 }, async (_, i) => {
      for (let n = 0; isMoving && n < 20; n += 1) {
        const name = `key ${i} ${n}`;
        expect(await ask('POST /v1/keys', { name, scopes: ['search'] })).toMatchObject({ status: 201 });
        names.push(name);
        await sleep(100);
      }
    });
    for (const home of ['east', 'west', 'east', 'west'])
      expect(await cells('home', 'default', home)).toMatchObject({ code: 0 });
    isMoving = false;
    await Promise.all(changing);
    for (const at of [url, west.url, east.url]) {
      const { results } = (await ask('GET /v1/keys?limit=100', undefined, { at })).body;
      expect(results.map(({ name }: { name: string }) => name).sort()).toEqual(names.sort());
    }
  },
  WITHIN_MS,
);

test(
  'a server with owners of its own does not become a cell',
  async () => {
    const full = await startOwnServer({ SLOWWAVE_API_KEY: OPERATOR_KEY, SLOWWAVE_CELL: 'full' });
    try {
      const written = await ask('POST /v1/memories', { user_id: 'ana', memory: 'Lives in Rome' }, { at: full.url });
      expect(written).toMatchObject({ status: 201 });
      const said = expect.stringContaining('expected a cell without owners');
      expect(await cells('add', 'full', full.url)).toMatchObject({ code: 1, said });
    } finally {
      await full.close();
    }
  },
  WITHIN_MS,
);

test(
  'an operator moves, drains and levels by hand, and is told what came of it',
  async () => {
    const [user = ''] = await usersIn(west.url);
    expect(await cells('move', '--user', user, '--to', 'east')).toMatchObject({
      code: 0,
      said: expect.stringContaining(`user ${user} is in east.`),
    });
    expect(await usersIn(east.url)).toContain(user);
    expect(await cells('move', '--user', 'nobody', '--to', 'east')).toMatchObject({
      code: 4,
      said: expect.stringMatching(/there is no user nobody in \w+/),
    });
    expect(await cells('move', '--to', 'east')).toMatchObject({
      code: 2,
      said: expect.stringContaining('expected an owner'),
    });

    const drained = await cells('drain', 'east');
    expect(drained).toMatchObject({
      code: 0,
      said: expect.stringContaining('east is empty. Remove it from the directory with slowwave cells remove east.'),
    });
    expect(drained.said).toMatch(/moving: (\d+) of \1 slot ranges and owners \(100%\)/);
    expect((await usersIn(west.url)).sort()).toEqual(USERS);
    const { cells: drainedState } = JSON.parse((await cells('--json')).said);
    expect(drainedState).toMatchObject([
      { name: 'west', state: 'open', slots: SLOTS },
      { name: 'east', state: 'draining', slots: 0, owners: 0 },
    ]);
    expect(await cells('rebalance')).toMatchObject({ code: 0, said: expect.stringContaining('nothing was moved') });

    // Who is moved to it, and erased there, does not keep it in the directory.
    await say('zoe', 'I live in Oslo.');
    expect((await cells('move', '--user', 'zoe', '--to', 'east')).code).toBe(0);
    expect((await ask('DELETE /v1/users/zoe')).status).toBe(202);
    expect(await cells('remove', 'east')).toMatchObject({
      code: 0,
      said: expect.stringContaining('was removed from the directory'),
    });
    expect((await say('zoe', 'I live in Oslo.')).status).toBe(200);
    expect((await ask('DELETE /v1/users/zoe')).status).toBe(202);

    // It stays after all.
    expect(await cells('add', 'east', east.url)).toMatchObject({
      code: 0,
      said: expect.stringContaining('east has its share of the slots'),
    });
    expect([...(await usersIn(west.url)), ...(await usersIn(east.url))].sort()).toEqual(USERS);
    const told = await cells();
    expect(told.said).toMatch(/east +open +50\.0%/);
    expect(told.said).toContain('Nothing is being moved.');
    for (const one of USERS) expect((await search(one)).body.results[0].memory).toContain('Oslo');
  },
  WITHIN_MS,
);

/** The router, which hears of a new home within a second, copies what the tenant has in common before it passes on a request. */
async function westHasTheNewestCopy(user: string): Promise<void> {
  const opened = await openDirectory(directory, SILENT_LOG);
  const isNewest = async (): Promise<void> => {
    expect((await search(user)).status).toBe(200);
    const place = (await opened.tenants()).find(({ tenant }) => tenant === DEFAULT_TENANT);
    const copy = (await opened.copiesOf(DEFAULT_TENANT)).find(({ cell }) => cell === 'west');
    expect([place?.home, copy?.epoch]).toEqual(['east', place?.epoch]);
  };
  await vi.waitFor(isNewest, PATIENCE).finally(() => opened.close());
}

test(
  'a cell that is lost is given up, its owners begin anew elsewhere, and should it come back it serves nobody',
  async () => {
    const [here, gone] = [await usersIn(west.url), await usersIn(east.url)];
    expect([...here, ...gone].sort()).toEqual(USERS);
    const [kept = '', lost = ''] = [here[0], gone[0]];
    expect((await ask('PUT /v1/settings', { instructions: 'Remember journeys.' })).status).toBe(200);
    expect((await cells('home', 'default', 'east')).code).toBe(0);
    expect(await cells('lost', 'east')).toMatchObject({ code: 1, said: expect.stringContaining('east responds') });
    const { results } = (await search(lost)).body;
    await westHasTheNewestCopy(kept);

    await east.kill();
    expect(await search(lost)).toMatchObject({ status: 503, body: { code: 'cell_unavailable', cell: 'east' } });
    const given = await cells('lost', 'east');
    expect(given).toMatchObject({ code: 0, said: expect.stringContaining('The home cell of default is west.') });
    const isLost = { status: 410, body: { code: 'cell_lost', cell: 'east' } };
    await vi.waitFor(async () => expect(await search(lost)).toMatchObject(isLost), PATIENCE);
    expect(await say(lost, 'I moved to Lima.')).toMatchObject(isLost);
    expect(await ask(`GET /v1/memories/${results[0].id}`)).toMatchObject(isLost);
    expect((await search(kept)).status).toBe(200);
    const { headers, body } = await ask('GET /v1/users');
    expect(headers.get('x-slowwave-missing-cells')).toBe('east');
    expect(body.results.map(({ id }: { id: string }) => id).sort()).toEqual(here.sort());
    expect((await ask('GET /v1/settings')).body).toMatchObject({ instructions: 'Remember journeys.' });
    expect((await ask('PUT /v1/settings', { instructions: 'Remember food.' })).status).toBe(200);
    expect(await cells('add', 'east', east.url)).toMatchObject({ code: 1, said: expect.stringContaining('is lost') });

    expect(await cells('lost', 'east', '--begin-anew')).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect((await search(lost)).body.results).toEqual([]), PATIENCE);
    expect((await say(lost, 'I live in Lima.')).body.state).toBe('consolidated');
    expect((await search(lost)).body.results[0].memory).toContain('Lima');
    expect(await usersIn(west.url)).toContain(lost);
    const { results: trail } = (await ask('GET /v1/audit?limit=100', undefined, { at: west.url })).body;
    const noted = trail.filter(
      ({ subject }: { subject: unknown }) => (subject as { kind?: string } | null)?.kind === 'cell',
    );
    expect(new Set(noted.map(({ action }: { action: string }) => action))).toEqual(new Set(['POST /v1/cell/losses']));

    await east.start();
    await vi.waitFor(async () => {
      expect((await ask('GET /v1/cell', undefined, { at: east.url })).body.given_up_at).not.toBeNull();
      expect(await search(lost, east.url)).toMatchObject({ status: 410, body: { code: 'cell_lost' } });
    }, PATIENCE);
    expect((await search(lost)).body.results[0].memory).toContain('Lima');
    // Whoever was only there is brought back by hand.
    const lines = `GET /v1/bundle/lines?kind=user&id=${gone[1] ?? lost}`;
    expect((await ask(lines, undefined, { at: east.url })).body.lines.length).toBeGreaterThan(1);
  },
  WITHIN_MS,
);

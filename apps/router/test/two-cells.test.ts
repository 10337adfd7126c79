import { join } from 'node:path';
import { openDirectory } from '@slowwave/adapters/cells';
import { readRouterConfig } from '@slowwave/adapters/config';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, ownerKeyOf } from '@slowwave/engine';
import type { CellDirectory } from '@slowwave/engine/cells';
import {
  askerOf,
  freePort,
  OPERATOR_KEY,
  type OwnServer,
  SILENT_LOG,
  startOwnServer,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { compose } from '../src/compose.ts';

const USERS = ['ana', 'bo', 'cy', 'di', 'ed', 'flo', 'gus', 'hal'];
const HALF = 32_768;
const NAMES = ['west', 'east'] as const;

let cells: readonly OwnServer[];
let router: Awaited<ReturnType<typeof compose>>;
let folder: Awaited<ReturnType<typeof tempDir>>;
let directory: CellDirectory;
const ask = askerOf(() => router.url);

/** Each cell has half of the slots before anybody is there, so that nobody has to move. */
beforeAll(async () => {
  folder = await tempDir();
  cells = await Promise.all(
    NAMES.map((name) => startOwnServer({ SLOWWAVE_API_KEY: OPERATOR_KEY, SLOWWAVE_CELL: name })),
  );
  const where = join(folder.path, 'directory.db');
  directory = await openDirectory(where, SILENT_LOG);
  for (const [i, name] of NAMES.entries()) await directory.addCell({ name, url: cells[i]?.url ?? '' });
  await directory.askHandovers([{ id: 'hov_1', from: HALF, to: 2 * HALF - 1, source: 'west', destination: 'east' }]);
  router = await compose(
    readRouterConfig({
      SLOWWAVE_API_KEY: OPERATOR_KEY,
      SLOWWAVE_DIRECTORY: where,
      SLOWWAVE_PORT: String(await freePort()),
      SLOWWAVE_LOG_LEVEL: 'silent',
    }),
  );
  await vi.waitFor(async () => expect(await directory.handovers()).toEqual([]), { timeout: 60_000, interval: 100 });
  const say = (user: string) =>
    ask('POST /v1/batches?wait=60000', { user_id: user, flush: true, messages: saidBy(user) });
  await Promise.all(USERS.map(say));
}, 300_000);
afterAll(async () => {
  await router?.close();
  await directory?.close();
  await Promise.all((cells ?? []).map((cell) => cell.close()));
  await folder?.remove();
});

const saidBy = (user: string): string => `I am ${user} and I live in Oslo.`;

/** In which cell a user is. */
async function homesOf(user: string): Promise<readonly number[]> {
  const lists = await Promise.all(cells.map(({ url }) => ask('GET /v1/users?limit=100', undefined, { at: url })));
  return lists.flatMap(({ body }, i) => (body.results.some((one: { id: string }) => one.id === user) ? [i] : []));
}

test('each user is in one cell, is found through the router, and all are in lists and sums', async () => {
  const homes = await Promise.all(USERS.map(homesOf));
  expect(homes.every((home) => home.length === 1)).toBe(true);
  expect(new Set(homes.flat())).toEqual(new Set([0, 1]));
  for (const user of USERS) {
    const { body } = await ask('POST /v1/search', { user_id: user, query: 'where does the user live?' });
    expect(body.results[0]).toMatchObject({ user_id: user });
    expect((await ask(`GET /v1/memories/${body.results[0].id}/history`)).status).toBe(200);
  }
  const listed: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await ask(`GET /v1/users?limit=3${cursor}`);
    listed.push(...body.results.map((one: { id: string }) => one.id));
    if (body.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
  expect(listed.sort()).toEqual(USERS);
  expect((await ask('GET /v1/stats')).body).toMatchObject({
    batches: { accepted: USERS.length, gap: 0 },
    owners: USERS.length,
  });
});

test('the router says which cell has what, to operators alone', async () => {
  const { status, body } = await ask('GET /v1/cells');
  expect(status).toBe(200);
  expect(body.ranges).toEqual([
    { from: 0, to: HALF - 1, cell: 'west' },
    { from: HALF, to: 2 * HALF - 1, cell: 'east' },
  ]);
  expect(body.cells).toMatchObject([
    { name: 'west', state: 'open', answers: true, slots: HALF },
    { name: 'east', state: 'open', answers: true, slots: HALF },
  ]);
  expect(body.cells.reduce((sum: number, { owners }: { owners: number }) => sum + owners, 0)).toBe(USERS.length);
  const { body: made } = await ask('POST /v1/keys', { name: 'of acme', scopes: ['admin'], tenant: 'acme' });
  const refused = await ask('GET /v1/cells', undefined, { key: made.secret });
  expect([refused.status, refused.body.code]).toEqual([403, 'scope_missing']);
  // A cell itself knows of no others.
  expect((await ask('GET /v1/cells', undefined, { at: cells[0]?.url })).body).toMatchObject({
    cells: [],
    handovers: [],
  });
});

test.each(['/v1/memories/%ed%a0%80', '/v1/memories?agent_id=%ED%A0%80', '/v1/memories?user_id=%zz&limit=1'])(
  'what cannot be decoded in %s is refused here as it is in a cell, and is nobody’s id',
  async (path) => {
    const [through, at] = [await ask(`GET ${path}`), await ask(`GET ${path}`, undefined, { at: cells[0]?.url })];
    expect(through).toMatchObject({ status: 400, body: { code: 'invalid_request', detail: at.body.detail } });
    expect(at.status).toBe(400);
  },
);

test('what changes nothing that a tenant has in common makes no copies, whoever asks for it', async () => {
  const tenant = 'acme';
  const { body } = await ask('POST /v1/keys', { name: 'chat', tenant, scopes: ['search', 'ingest', 'admin'] });
  const before = await directory.tenants();
  expect(before.map((place) => place.tenant)).toContain(tenant);
  const answers = [
    await ask('POST /v1/keys', { name: 'other', tenant: 'other', scopes: ['search'] }, { key: body.secret }),
    await ask('DELETE /v1/tenants/other/ceilings', undefined, { key: body.secret }),
    await ask('POST /v1/keys', { name: 'none', tenant: 'No tenant', scopes: ['search'] }),
    await ask('POST /v1/search', { query: 'home' }, { key: body.secret }),
    await ask('POST /mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { key: body.secret }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 400, 400, expect.any(Number)]);
  expect(await directory.tenants()).toEqual(before);
});

test('the state of a run is where the user or agent is that the run is for', async () => {
  for (const owner of ['', '?user_id=ana', '?user_id=bo', '?agent_id=planner'])
    for (const run of ['r1', 'r2', 'r3', 'r4'].map((name) => `/v1/runs/${name}/state${owner}`)) {
      expect(await ask(`PUT ${run}`, { goal: `of ${owner}` })).toMatchObject({ status: 200 });
      expect(await ask(`GET ${run}`)).toMatchObject({ status: 200, body: { goal: `of ${owner}` } });
    }
});

test('what sees the users of one cell only says of which', async () => {
  const at = async (path: string) =>
    (await fetch(`${router.url}${path}`, { headers: { authorization: `Bearer ${OPERATOR_KEY}` } })).headers.get(
      'x-slowwave-only-cell',
    );
  expect(await Promise.all(['/v1/suites', '/v1/canaries', '/v1/replays', '/v1/users'].map(at))).toEqual([
    'west',
    'west',
    null,
    null,
  ]);
});

test('a user who is erased is gone from the cell, and from keys and webhooks of the tenant in all cells', async () => {
  for (const [user, way] of [
    [await oneIn(0), (id: string) => `DELETE /v1/users/${id}`],
    [await oneIn(1), (id: string) => `DELETE /v1/users/${id}`],
    [await oneIn(1, 1), (id: string) => `DELETE /mem0/v1/entities/user/${id}`],
  ] as const) {
    const { body: created } = await ask('POST /v1/keys', { name: `of ${user}`, scopes: ['search'], user_id: user });
    const search = { user_id: user, query: 'where does the user live?' };
    expect((await ask('POST /v1/search', search, { key: created.secret })).body.results).not.toEqual([]);
    const erased = await ask(way(user));
    expect([user, erased.status < 300]).toEqual([user, true]);
    for (const { url } of cells) {
      // What a process has read of a key it believes for some seconds.
      const refused = async () =>
        expect((await ask('POST /v1/search', search, { key: created.secret, at: url })).status).toBe(401);
      await vi.waitFor(refused, { timeout: 60_000, interval: 200 });
      const { body } = await ask('GET /v1/keys', undefined, { at: url });
      expect(JSON.stringify(body)).not.toContain(`"${user}"`);
    }
    expect(await homesOf(user)).toEqual([]);
    expect((await ask('POST /v1/search', search)).body.results).toEqual([]);
  }
});

/** One of the users in a cell. */
async function oneIn(cell: number, nth = 0): Promise<string> {
  const found: string[] = [];
  for (const user of USERS) if ((await homesOf(user))[0] === cell) found.push(user);
  return found[nth] ?? '';
}

/** Moves a user from the cell of its slot to the other one. */
async function moved(user: string, destination: string): Promise<void> {
  const owned = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id: user } } as const;
  const move = { ...owned, key: ownerKeyOf(systemTools, owned), moveId: systemTools.id('mov'), destination };
  expect(await directory.askMoves([move])).toBe(1);
  await untilMoved();
}

/** Nobody is on the way. */
const untilMoved = () =>
  vi.waitFor(
    async () => {
      const { given_up: _, ...open } = (await directory.moves(0)).counts;
      expect(Object.values(open).every((count) => count === 0)).toBe(true);
    },
    { timeout: 60_000, interval: 50 },
  );

test('a user who was moved alone, and is erased, can begin anew', async () => {
  const posted = await ask('POST /v1/batches?wait=60000', { user_id: 'ian', flush: true, messages: saidBy('ian') });
  expect(posted.body.state).toBe('consolidated');
  const [home = 0] = await homesOf('ian');
  await moved('ian', NAMES[1 - home] ?? '');
  expect(await homesOf('ian')).toEqual([1 - home]);
  expect((await ask('DELETE /v1/users/ian')).status).toBe(202);
  const again = await ask('POST /v1/batches', { user_id: 'ian', messages: 'I am a new Ian.' });
  expect([again.status, again.body.detail]).toEqual([202, undefined]);
  expect(await homesOf('ian')).toEqual([home]);
});

test('so can one who is erased while on the way, by other routes', async () => {
  await ask('POST /v1/batches?wait=60000', { user_id: 'joe', flush: true, messages: saidBy('joe') });
  const [home = 0] = await homesOf('joe');
  const [here = '', there = ''] = [NAMES[home], NAMES[1 - home]];
  await moved('joe', there);
  expect((await ask('DELETE /v1/users/joe')).status).toBe(202);
  // Asked for while nobody is there any more.
  await moved('joe', here);
  expect((await directory.moves(10)).oldest).toEqual([]);
  await ask('POST /v1/batches?wait=60000', { user_id: 'joe', flush: true, messages: saidBy('joe') });
  await moved('joe', there);
  expect((await ask('DELETE /v1/users/joe', undefined, { at: cells[1 - home]?.url })).status).toBe(202);
  const search = await ask('POST /v1/search', { user_id: 'joe', query: 'where does the user live?' });
  expect(search).toMatchObject({ status: 200, body: { results: [] } });
  const added = await ask('POST /mem0/v1/memories/', { user_id: 'joe', infer: false, messages: saidBy('joe') });
  expect([added.status, await homesOf('joe')]).toEqual([200, [home]]);
});

test('pages come from any cell that answers', async () => {
  await cells[0]?.kill();
  expect((await fetch(`${router.url}/login`)).status).toBe(200);
  await cells[0]?.start();
});

test('a cell that is away takes its own users only', async () => {
  const [west, east] = [await oneIn(0), await oneIn(1)];
  await cells[1]?.close();
  const search = (user: string) => ask('POST /v1/search', { user_id: user, query: 'where does the user live?' });
  expect((await search(west)).status).toBe(200);
  expect(await search(east)).toMatchObject({ status: 503, body: { code: 'cell_unavailable', cell: 'east' } });
  expect(await ask('GET /v1/users')).toMatchObject({ status: expect.toBeOneOf([200, 503]) });
  expect((await ask('GET /v1/cells')).body.cells).toMatchObject([
    { name: 'west', answers: true },
    { name: 'east', answers: false, owners: null },
  ]);
});

import { join } from 'node:path';
import { openDirectory } from '@slowwave/adapters/cells';
import { readRouterConfig } from '@slowwave/adapters/config';
import { freePort, type OwnServer, startOwnServer, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { compose } from '../src/compose.ts';
import { askerOf, KEY } from './asking.ts';

const USERS = ['ana', 'bo', 'cy', 'di', 'ed', 'flo', 'gus', 'hal'];
const HALF = 32_768;

let cells: readonly OwnServer[];
let router: Awaited<ReturnType<typeof compose>>;
let folder: Awaited<ReturnType<typeof tempDir>>;
const ask = askerOf(() => router.url);

/** Each cell has half of the slots before anybody is there, so that nobody has to move. */
beforeAll(async () => {
  folder = await tempDir();
  const names = ['west', 'east'] as const;
  cells = await Promise.all(names.map((name) => startOwnServer({ SLOWWAVE_API_KEY: KEY, SLOWWAVE_CELL: name })));
  const where = join(folder.path, 'directory.db');
  const directory = await openDirectory(where, SILENT);
  for (const [i, name] of names.entries()) await directory.addCell({ name, url: cells[i]?.url ?? '' });
  await directory.askHandovers([{ id: 'hov_1', from: HALF, to: 2 * HALF - 1, source: 'west', destination: 'east' }]);
  router = await compose(
    readRouterConfig({
      SLOWWAVE_API_KEY: KEY,
      SLOWWAVE_DIRECTORY: where,
      SLOWWAVE_PORT: String(await freePort()),
      SLOWWAVE_LOG_LEVEL: 'silent',
    }),
  );
  await vi.waitFor(async () => expect(await directory.handovers()).toEqual([]), { timeout: 60_000, interval: 100 });
  await directory.close();
  const say = (user: string) =>
    ask('POST /v1/batches?wait=60000', { user_id: user, flush: true, messages: saidBy(user) });
  await Promise.all(USERS.map(say));
}, 300_000);
afterAll(async () => {
  await router?.close();
  await Promise.all((cells ?? []).map((cell) => cell.close()));
  await folder?.remove();
});

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
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

test('what sees the users of one cell only says of which', async () => {
  const at = async (path: string) =>
    (await fetch(`${router.url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })).headers.get(
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

test('a cell that is away takes its own users only', async () => {
  const [west, east] = [await oneIn(0), await oneIn(1)];
  await cells[1]?.close();
  const search = (user: string) => ask('POST /v1/search', { user_id: user, query: 'where does the user live?' });
  expect((await search(west)).status).toBe(200);
  expect(await search(east)).toMatchObject({ status: 503, body: { code: 'cell_unavailable', cell: 'east' } });
  expect(await ask('GET /v1/users')).toMatchObject({ status: expect.toBeOneOf([200, 503]) });
});

import { join } from 'node:path';
import { openDirectory } from '@slowwave/adapters/cells';
import { readRouterConfig } from '@slowwave/adapters/config';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, ownerKeyOf } from '@slowwave/engine';
import { type CellDirectory, type PlacedOwner, SLOTS } from '@slowwave/engine/cells';
import {
  askerOf,
  freePort,
  OPERATOR_KEY,
  type OwnServer,
  onOneDay,
  SILENT_LOG,
  startOwnServer,
  tempDir,
} from '@slowwave/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { compose } from '../src/compose.ts';

const NAMES = ['west', 'east'] as const;
const PATIENCE = { timeout: 60_000, interval: 200 };
const WITHIN_MS = 300_000;
/** Of about sixty exchanges, each with its own user. */
const BUDGET = 200_000;
const NEARLY_ALL = 0.9;
/** Of one exchange: what is on its way when a share is used up goes through. */
const EXCHANGE = 10_000;

let cells: Readonly<Record<(typeof NAMES)[number], OwnServer>>;
let router: Awaited<ReturnType<typeof compose>>;
let directory: CellDirectory;
let folder: Awaited<ReturnType<typeof tempDir>>;
const ask = askerOf(() => router.url);

beforeAll(async () => {
  await onOneDay(60_000);
  folder = await tempDir();
  const started = await Promise.all(
    NAMES.map((name) => startOwnServer({ SLOWWAVE_API_KEY: OPERATOR_KEY, SLOWWAVE_CELL: name })),
  );
  cells = Object.fromEntries(NAMES.map((name, i) => [name, started[i]])) as unknown as typeof cells;
  const where = join(folder.path, 'directory.db');
  directory = await openDirectory(where, SILENT_LOG);
  for (const name of NAMES) await directory.addCell({ name, url: cells[name].url });
  const half = { from: SLOTS / 2, to: SLOTS - 1, source: 'west', destination: 'east' };
  await directory.askHandovers([{ ...half, id: 'hov_1' }]);
  router = await compose(
    readRouterConfig({
      ...{ SLOWWAVE_API_KEY: OPERATOR_KEY, SLOWWAVE_DIRECTORY: where, SLOWWAVE_LOG_LEVEL: 'silent' },
      SLOWWAVE_PORT: String(await freePort()),
    }),
  );
  await vi.waitFor(async () => expect(await directory.handovers()).toEqual([]), PATIENCE);
}, WITHIN_MS);
afterAll(async () => {
  await router?.close();
  await directory?.close();
  await Promise.all(Object.values(cells ?? {}).map((cell) => cell.close()));
  await folder?.remove();
});

const placed = (id: string): PlacedOwner => {
  const named = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id } } as const;
  return { ...named, key: ownerKeyOf(systemTools, named) };
};

/** Users whose slots are in a cell. */
function* usersOf(name: (typeof NAMES)[number]): Generator<PlacedOwner> {
  for (let n = 0; ; n += 1) {
    const user = placed(`user-${n}`);
    if (Number.parseInt(user.key.slice(0, 4), 16) < SLOTS / 2 === (name === 'west')) yield user;
  }
}

/** Whether what somebody says is consolidated, and does not wait for the budget. */
async function isHeard({ owner: { id } }: PlacedOwner): Promise<boolean> {
  const said = [{ role: 'user', content: `I am ${id} and I live in Oslo.` }];
  const { body } = await ask('POST /v1/batches', { user_id: id, flush: true, messages: said });
  return vi.waitFor(async () => {
    const batch = (await ask(`GET /v1/batches/${body.batch_id}`)).body;
    if (batch.state !== 'consolidated') expect(batch.error?.code).toBe('budget_exhausted');
    return batch.state === 'consolidated';
  }, PATIENCE);
}

const shareIn = async (name: (typeof NAMES)[number]) =>
  (await ask('GET /v1/cell/shares?tenant=default', undefined, { at: cells[name].url })).body.results[0];
/** Of the budget, in both. */
const used = async (): Promise<number> => (await shareIn('west')).used + (await shareIn('east')).used;
const move = async (owners: readonly PlacedOwner[], destination: string) =>
  directory.askMoves(owners.map((owner) => ({ ...owner, destination, moveId: systemTools.id('mov') })));

test(
  'a budget is used once over two cells while users move between them, and nearly all of it by the cell that has the traffic',
  async () => {
    await ask('PUT /v1/settings', { budgets: { tokens_per_day: BUDGET } });
    const [west, east] = [usersOf('west'), usersOf('east')];
    const movers: PlacedOwner[] = [];
    for (let n = 0; n < 15; n += 1) {
      const user = west.next().value as PlacedOwner;
      movers.push(user);
      expect(await isHeard(user)).toBe(true);
    }
    expect(await move(movers, 'east')).toBe(movers.length);
    let [heard, refused] = [0, 0];
    // A share that is used up becomes larger now and then: not until it is nearly all is a refusal the last word.
    while (refused < 4) {
      if (await isHeard(east.next().value as PlacedOwner)) [heard, refused] = [heard + 1, 0];
      else if ((await used()) > NEARLY_ALL) refused += 1;
      if (heard === 10) await move(movers, 'west');
    }
    await vi.waitFor(async () => {
      const { counts } = await directory.moves(0);
      expect([counts.copying, counts.departing, counts.arriving]).toEqual([0, 0, 0]);
    }, PATIENCE);
    const [here, there] = [await shareIn('west'), await shareIn('east')];
    // What was used stays where it was used, wherever its user is by now.
    expect(here.used).toBeGreaterThan(0.1);
    expect(here.part + there.part).toBeLessThanOrEqual(1 + 1e-9);
    expect(here.used + there.used).toBeGreaterThan(NEARLY_ALL);
    expect(here.used + there.used).toBeLessThan(1 + EXCHANGE / BUDGET);
    // As soon as there is more, all goes on.
    await ask('PUT /v1/settings', { budgets: { tokens_per_day: BUDGET * 2 } });
    await vi.waitFor(async () => {
      for (const users of [west, east]) expect(await isHeard(users.next().value as PlacedOwner)).toBe(true);
    }, PATIENCE);
  },
  WITHIN_MS,
);

import { join } from 'node:path';
import {
  DEFAULT_TENANT,
  eraseOwner,
  examine,
  type Owner,
  ownerBitsOf,
  requestErasure,
  type StoredLedger,
  undoer,
} from '@slowwave/engine';
import {
  added,
  createMemoryIndex,
  type EngineBench,
  echoExtract,
  engineBench,
  fakeChat,
  home,
  NEVER,
  scope,
  stateHash,
  user,
} from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KINDS, MOVING_KINDS } from '../src/ledger/bundle/kinds.ts';
import { ERASING } from '../src/ledger/erasures.ts';
import { openSqliteLedger } from '../src/sqlite/index.ts';
import { systemTools } from '../src/system/system.ts';
import { MARKER, twoLives } from './erased-life.ts';
import { beginWith, importLines, linesOf, resealed, thrownAway } from './travelling.ts';

const OWNER = user(`${MARKER}-user`);

let folder: TempDir;
let from: StoredLedger;
let lines: string[];
let ledgers = 0;
const opened: StoredLedger[] = [];

async function empty(): Promise<StoredLedger> {
  ledgers += 1;
  const ledger = await openSqliteLedger({ path: join(folder.path, `${ledgers}.db`), tools: systemTools });
  opened.push(ledger);
  return ledger;
}

beforeAll(async () => {
  folder = await tempDir();
  from = await empty();
  const bench = await twoLives({ ledger: from, index: createMemoryIndex() });
  const applied = await from.thoughts.list(
    DEFAULT_TENANT,
    { userId: OWNER.id, state: 'applied' },
    { limit: 1, cursor: null },
  );
  await undoer(bench.deps).undo(DEFAULT_TENANT, applied.results[0]?.id ?? '', { cascade: true, dryRun: false });
  await planRun(from);
  lines = await linesOf(from, OWNER);
});
afterAll(async () => {
  for (const ledger of opened) await ledger.close();
  await folder.remove();
});

/** The state of a run in two versions. */
async function planRun(ledger: StoredLedger): Promise<void> {
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, OWNER, 1);
  const place = { tenant: DEFAULT_TENANT, lane, runId: 'trip', appId: null, key: { key: 'k', bodyHash: 'h' } };
  await ledger.taskStates.write({ ...place, expected: 0, document: { goal: 'Book' }, ends: false, now: 1 });
  await ledger.taskStates.write({ ...place, key: null, expected: 1, document: { goal: 'Pay' }, ends: true, now: 2 });
}

const ALL = { limit: 100, cursor: null };

const TOLD = {
  ...{ id: 'whk_1', tenant: DEFAULT_TENANT, name: '', url: 'https://example.com/hook', secret: 'whsec_1234567890' },
  events: ['memory.added', 'batch.consolidated'],
  ...{ userId: null, appId: null, active: true, createdAt: 1 },
} as const;

/** Departs, and its rows go. */
async function leave({ deps: { ledger, index, tools, log } }: EngineBench, owner: Owner): Promise<void> {
  const stamp = (await ledger.departures.stamp(DEFAULT_TENANT, owner)) ?? '';
  const departed = await ledger.departures.depart(DEFAULT_TENANT, owner, {
    ...{ id: 'dep_1', to: { cell: 'there', epoch: 1 }, stamp, ownerHash: 'hash', until: 9e12, now: 2 },
    bits: ownerBitsOf(tools, { tenant: DEFAULT_TENANT, owner }),
  });
  expect(departed.kind).toBe('departed');
  const queue = { erase: async () => {}, forgetLane: async () => {} };
  await eraseOwner({ ledger, index, tools, log, queue, settleMs: 0 })('dep_1', NEVER);
  expect(await ledger.erasures.open(1)).toEqual([]);
}

const memoriesOf = async (ledger: StoredLedger) =>
  (await ledger.memories.every(null, 10_000)).filter(({ owner }) => owner.id === OWNER.id);

it('an owner that travels is the same in the other ledger, line by line', async () => {
  const types = new Set(lines.map((line) => (JSON.parse(line) as { type: string }).type));
  expect(KINDS.map(({ type }) => type).filter((type) => !types.has(type))).toEqual(['key', 'night', 'wish']);
  const to = await empty();
  await importLines(to, { owner: OWNER, lines }, 37);
  expect(await linesOf(to, OWNER)).toEqual(lines);
  expect(stateHash(await memoriesOf(to))).toBe(stateHash(await memoriesOf(from)));
});

it('every table with something of an owner travels, or is known to stay', () => {
  const known = (kinds: typeof KINDS) => new Set(['event_sources', ...kinds.map(({ table }) => table)]);
  const all = [...new Set(ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table)))].sort();
  const [bundled, moved] = [known(KINDS), known(MOVING_KINDS)];
  // What is not claimed yet travels as messages, and hours are counted from calls.
  expect(all.filter((table) => !moved.has(table))).toEqual([
    ...['bulk_questions', 'canary_lanes', 'graph_turns', 'imports', 'outbox', 'replay_batches', 'unclaimed_messages'],
    ...['unprojected_lanes', 'usage_hours'],
  ]);
  expect(all.filter((table) => moved.has(table) && !bundled.has(table))).toEqual([
    ...['holds', 'receipts', 'sleeps', 'suite_cases', 'tellings', 'usage', 'uses', 'webhook_deliveries'],
  ]);
});

it('what waits goes on in the other ledger, and nothing there is found to be wrong', async () => {
  const to = await empty();
  await importLines(to, { owner: OWNER, lines });
  const bench = await engineBench({ chat: fakeChat({}), stores: { ledger: to, index: createMemoryIndex() } });
  const { findings } = await examine(bench.deps, { depth: 'quick', cancel: NEVER });
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(await to.lanes.find(DEFAULT_TENANT, OWNER)).toMatchObject({ state: 'waiting', pending: 1 });
  expect(await to.outbox.pending(1)).toHaveLength(1);
});

it('an owner that leaves takes along what is still to be done for it, and comes back with all of it', async () => {
  const [here, there] = [await empty(), await empty()];
  const bench = await engineBench({
    chat: fakeChat({ extract_facts: echoExtract }),
    stores: { ledger: here, index: createMemoryIndex() },
  });
  for (const ledger of [here, there]) await ledger.webhooks.create(TOLD, 10);
  await bench.post(['pet: cat'], { userId: 'ann' });
  await bench.run();
  const ann = user('ann');
  const noted = (await here.webhooks.deliveries(DEFAULT_TENANT, TOLD.id, {}, ALL)).results;
  const lines = await linesOf(here, ann, true);
  await leave(bench, ann);
  await importLines(there, { owner: ann, lines });
  const { results } = await there.webhooks.deliveries(DEFAULT_TENANT, TOLD.id, {}, ALL);
  expect(results.map(({ id, type, body }) => ({ id, type, body }))).toEqual(
    noted.map(({ id, type, body }) => ({ id, type, body })),
  );
  expect(noted.length).toBeGreaterThan(0);
  expect(await here.overview.batches(DEFAULT_TENANT)).toMatchObject({ accepted: 0, erased: 0, consolidated: 0 });
  await importLines(here, { owner: ann, lines: await linesOf(there, ann, true) });
  expect(await here.departures.find(DEFAULT_TENANT, ann)).toBeNull();
  expect(await linesOf(here, ann, true)).toEqual(lines);
  expect((await bench.post(['pet: dog'], { userId: 'ann' })).length).toBeGreaterThan(0);
});

it('nobody sees anything of an owner before the last line is there', async () => {
  const to = await empty();
  const begun = await beginWith(to, { owner: OWNER, lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  await to.bundles.take(begun.id, 0, lines.slice(0, -1));
  expect(await memoriesOf(to)).toEqual([]);
  expect(await to.lanes.find(DEFAULT_TENANT, OWNER)).toBeNull();
  expect(await to.bundles.finish(begun.id, systemTools.now())).toMatchObject({ kind: 'incomplete' });
  // Somebody speaks meanwhile.
  await to.memories.laneOf(DEFAULT_TENANT, OWNER, systemTools.now());
  await to.bundles.take(begun.id, lines.length - 1, lines.slice(-1));
  expect(await to.bundles.finish(begun.id, systemTools.now())).toEqual({ kind: 'exists' });
});

it('an owner that came back does not depart by a request that was sent before', async () => {
  const [here, there] = [await empty(), await empty()];
  const quiet = user('quiet');
  await here.memories.laneOf(DEFAULT_TENANT, quiet, 1);
  const departure = {
    ...{ id: 'ers_1', ownerHash: 'hash', until: 9e12, now: 2 },
    to: { cell: 'there', epoch: 1 },
    bits: ownerBitsOf(systemTools, { tenant: DEFAULT_TENANT, owner: quiet }),
    stamp: (await here.departures.stamp(DEFAULT_TENANT, quiet)) ?? '',
  } as const;
  const first = await linesOf(here, quiet);
  expect(await here.departures.depart(DEFAULT_TENANT, quiet, departure)).toMatchObject({ kind: 'departed' });
  await importLines(there, { owner: quiet, lines: first });
  while ((await here.erasures.slice('ers_1', 100)).more);
  await here.erasures.forgetOwner('ers_1');
  await importLines(here, { owner: quiet, lines: await linesOf(there, quiet) });
  expect(await here.departures.depart(DEFAULT_TENANT, quiet, { ...departure, id: 'ers_2' })).toEqual({
    kind: 'changed',
  });
  expect(await here.lanes.find(DEFAULT_TENANT, quiet)).not.toBeNull();
});

it('lines that are sent twice are stored once, and the import goes on where it was', async () => {
  const to = await empty();
  const begun = await beginWith(to, { owner: OWNER, lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  expect(await to.bundles.take(begun.id, 0, lines.slice(0, 50))).toEqual({ kind: 'taken', taken: 50 });
  expect(await to.bundles.take(begun.id, 0, lines.slice(0, 50))).toEqual({ kind: 'elsewhere', taken: 50 });
  expect(await beginWith(to, { owner: OWNER, lines })).toMatchObject({ kind: 'import', id: begun.id, taken: 50 });
  await importLines(to, { owner: OWNER, lines });
  expect(await linesOf(to, OWNER)).toEqual(lines);
  expect(await beginWith(to, { owner: OWNER, lines })).toMatchObject({ kind: 'import', finished: true });
});

it('a line that is damaged, missing or strange is named, and nothing of its neighbours is stored', async () => {
  const to = await empty();
  const begun = await beginWith(to, { owner: OWNER, lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  const said = lines.findIndex((line) => line.includes(MARKER));
  const damaged = lines.with(said, (lines[said] ?? '').replace(MARKER, 'Other'));
  expect(await to.bundles.take(begun.id, 0, damaged.slice(0, said + 3))).toMatchObject({
    ...{ kind: 'damaged', line: said + 1, expected: expect.stringMatching(/^[0-9a-f]{32}$/) },
  });
  expect(await to.bundles.take(begun.id, 0, lines.toSpliced(3, 1))).toMatchObject({ kind: 'damaged', line: 4 });
  expect(await to.bundles.take(begun.id, 0, ['{}'])).toMatchObject({ kind: 'damaged', line: 1 });
  expect(await to.bundles.take(begun.id, 0, lines.slice(0, 9))).toEqual({ kind: 'taken', taken: 9 });
});

/** Two owners who said the same, as lines. */
async function twoOwners(): Promise<{ readonly ann: string[]; readonly bob: string[] }> {
  const ledger = await empty();
  const chat = fakeChat({ extract_facts: echoExtract });
  const bench = await engineBench({ chat, stores: { ledger, index: createMemoryIndex() } });
  for (const userId of ['ann', 'bob']) await bench.post(['pet: cat', 'town: Oslo'], { userId });
  await bench.run();
  return { ann: await linesOf(ledger, user('ann')), bob: await linesOf(ledger, user('bob')) };
}

/** The first of these lines has this id. */
function withId(lines: readonly string[], type: string, id: string): string[] {
  const at = lines.findIndex((line) => JSON.parse(line).type === type);
  let place = -1;
  return resealed(lines, (line) => {
    place += 1;
    return place === at ? { ...line, id } : line;
  });
}

it.each([
  { type: 'message', what: 'an id of its own' },
  { type: 'event', what: 'an id of its own' },
  { type: 'message', what: 'an id that follows from its batch', follows: true },
])('a $type of somebody else that has $what already is refused by its line', async ({ type, follows = false }) => {
  const { ann, bob } = await twoOwners();
  const to = await empty();
  const mine = ann.map((line) => JSON.parse(line)).find((line) => line.type === type);
  const id = follows ? String(mine?.id) : 'xyz_own';
  await importLines(to, { owner: user('ann'), lines: follows ? ann : withId(ann, type, id) });
  const lines = withId(bob, type, id);
  const begun = await beginWith(to, { owner: user('bob'), lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  expect(await to.bundles.take(begun.id, 0, lines)).toEqual({
    ...{ kind: 'refused', line: lines.findIndex((line) => line.includes(`"${id}"`)) + 1 },
    problem: `${id} already exists in this ledger, under another owner or tenant; a bundle can only be imported once`,
  });
  expect(await to.bundles.find(begun.id)).toMatchObject({ taken: 0 });
});

it.each(['batch', 'memory', 'message'])('a %s that comes twice is refused by both of its lines', async (type) => {
  const { bob } = await twoOwners();
  const at = bob.findIndex((line) => JSON.parse(line).type === type);
  const lines = resealed(
    withId(bob, type, 'xyz_own').toSpliced(at, 0, withId(bob, type, 'xyz_own')[at] ?? ''),
    (line) => line,
  );
  const to = await empty();
  const begun = await beginWith(to, { owner: user('bob'), lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  expect(await to.bundles.take(begun.id, 0, lines.slice(0, -1))).toEqual({
    ...{ kind: 'refused', line: at + 2 },
    problem: `xyz_own is in line ${at + 1} already; export the owner again`,
  });
});

it('the same things cannot be in one ledger twice', async () => {
  const begun = await beginWith(from, { owner: user('somebody else'), lines });
  if (begun.kind !== 'import') throw new Error(begun.kind);
  expect(await from.bundles.take(begun.id, 0, lines.slice(0, 9))).toMatchObject({ kind: 'refused', line: 1 });
  expect(await beginWith(from, { owner: OWNER, lines })).toEqual({ kind: 'exists' });
});

it('what was erased after it was read does not come back, and what was read after it does', async () => {
  const to = await empty();
  await importLines(to, { owner: OWNER, lines });
  const deps = { ledger: to, tools: systemTools };
  const readBefore = systemTools.now() - 1;
  await requestErasure(deps, DEFAULT_TENANT, OWNER);
  expect(await beginWith(to, { owner: OWNER, lines, readAt: readBefore })).toEqual({ kind: 'erased' });
  expect(await beginWith(to, { owner: OWNER, lines, readAt: systemTools.now() + 1_000 })).toMatchObject({
    kind: 'import',
    taken: 0,
  });
});

it('an owner that changes between two pages is not taken for one that is whole', async () => {
  const ledger = await empty();
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, OWNER, systemTools.now());
  const write = (text: string) =>
    ledger.memories.write(DEFAULT_TENANT, {
      ...{
        changes: [added(systemTools, home(lane, { scope: scope({ userId: OWNER.id }) }), { text })],
        tombstones: [],
      },
      now: systemTools.now(),
    });
  for (let i = 0; i < 150; i += 1) await write(`${i} ${'and so on '.repeat(800)}`);
  let page = await ledger.bundles.lines(DEFAULT_TENANT, OWNER, { cursor: null, moving: false });
  await write('One more');
  while (page.kind === 'page' && page.nextCursor !== null) {
    page = await ledger.bundles.lines(DEFAULT_TENANT, OWNER, { cursor: page.nextCursor, moving: false });
  }
  expect(page.kind).toBe('changed');
  expect(await linesOf(ledger, OWNER)).toHaveLength(1 + 1 + 151 * 3 + 1);
});

it('an import of a later attempt to move its owner is not thrown away for an earlier one', async () => {
  const to = await empty();
  const begun = await beginWith(to, { owner: OWNER, lines, attempt: 3 });
  const fewer = lines.slice(0, -1);
  expect(await beginWith(to, { owner: OWNER, lines: fewer, attempt: 2 })).toEqual({ kind: 'overtaken' });
  expect(await beginWith(to, { owner: OWNER, lines, attempt: 4 })).toMatchObject({ kind: 'import' });
  expect(await beginWith(to, { owner: OWNER, lines, attempt: 3 })).toEqual({ kind: 'overtaken' });
  expect(await to.bundles.arriving(DEFAULT_TENANT, OWNER, 3)).toEqual([]);
  const [open] = await to.bundles.arriving(DEFAULT_TENANT, OWNER, 4);
  expect(open?.id).toBe(begun.kind === 'import' ? begun.id : '');
  expect(await beginWith(to, { owner: OWNER, lines: fewer, attempt: 5 })).toEqual({ kind: 'other', id: open?.id });
});

it('an owner arrives again only when what arrived of it before is removed', async () => {
  const to = await empty();
  const remove = await thrownAway(to, { owner: OWNER, lines });
  expect(await beginWith(to, { owner: OWNER, lines, attempt: 1 })).toEqual({ kind: 'thrown_away' });
  await remove();
  await importLines(to, { owner: OWNER, lines, attempt: 1 });
  expect(await linesOf(to, OWNER)).toEqual(lines);
});

it('an owner that is moved in waits for what its tenant may use here, one that is imported does not', async () => {
  const epochs = await Promise.all(
    [0, 1].map(async (attempt) => {
      const to = await empty();
      await importLines(to, { owner: OWNER, lines, attempt });
      return (await to.settings.terms(DEFAULT_TENANT)).shareEpoch;
    }),
  );
  expect(epochs).toEqual([null, 0]);
});

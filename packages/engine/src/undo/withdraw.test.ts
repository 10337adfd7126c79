import { echoExtract, engineBench, expectTrue, fakeChat, keyedDecide, scope } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { newest } from '../memories/evolve.ts';
import { memoryWriter, SLICE } from '../memories/write.ts';
import { DEFAULT_TENANT, type NamedIds, type Scope } from '../words.ts';
import { undoer } from './undo.ts';
import { withdrawer } from './withdraw.ts';

const FOR_GOOD = { dryRun: false, most: 1_000, listed: 10 };

it('what was said in one run only goes with it, what was said elsewhere loses that run alone', async () => {
  const b = await bench();
  await b.say('pet: cat', { runId: 'r1' });
  await b.say('home: Oslo', { runId: 'r1' });
  await b.say('home: Oslo', { runId: 'r2' });
  await b.say('car: red');
  const gone = await b.withdraw({ runId: 'r1' });
  expect(gone).toMatchObject({ deleted: 1, kept: 1, more: false, searchable: true });
  expect(gone.first.map((memory) => memory.versions[0]?.text)).toEqual(['pet: cat']);
  expect(await b.engine.live()).toEqual(['car: red', 'home: Oslo']);
  expect(await b.under({ runId: 'r1' })).toEqual([]);
  expect(await b.under({ runId: 'r2' })).toEqual(['home: Oslo']);
  await expectTrue(b.engine.deps.ledger);
});

it('a memory says again what it was told elsewhere', async () => {
  const b = await bench();
  await b.say('home: Oslo', { runId: 'r1' });
  await b.say('home: Bergen', { runId: 'r2' });
  expect(await b.withdraw({ runId: 'r2' })).toMatchObject({ deleted: 0, kept: 1 });
  expect(await b.engine.live()).toEqual(['home: Oslo']);
});

it('goes through the memories of all owners, and deletes what belongs to the agent or run itself', async () => {
  const b = await bench();
  await b.say('home: Oslo', { runId: 'r1' });
  await b.say('home: Lyon', { userId: 'bob', runId: 'r1' });
  await b.say('task: open', { userId: null, runId: 'r1' });
  await b.say('task: open', { userId: null, runId: 'r1', appId: 'web' });
  expect(await b.withdraw({ runId: 'r1' })).toMatchObject({ deleted: 3, kept: 0 });
  for (const owner of ['ann', 'bob']) expect(await b.engine.live(owner)).toEqual([]);
  expect(await b.under({ runId: 'r1' })).toEqual([]);
});

it('of several ids means what was said under all of them at once', async () => {
  const b = await bench();
  await b.say('home: Oslo', { runId: 'r1', appId: 'web' });
  await b.say('pet: cat', { runId: 'r1', appId: 'shop' });
  expect(await b.withdraw({ runId: 'r1', appId: 'web' })).toMatchObject({ deleted: 1, kept: 0 });
  expect(await b.engine.live()).toEqual(['pet: cat']);
});

it('can be redone where the memory stayed, and restored where it went', async () => {
  const b = await bench();
  await b.say('home: Oslo', { runId: 'r1' });
  await b.say('home: Bergen', { runId: 'r2' });
  await b.withdraw({ runId: 'r2' });
  const { ledger } = b.engine.deps;
  const [undo] = (await ledger.undos.list(DEFAULT_TENANT, {}, { limit: 9, cursor: null })).results;
  expect(undo).toMatchObject({ kind: 'withdrawal', memories: 1, consolidations: [] });
  expect(await undoer(b.engine.deps).redo(DEFAULT_TENANT, undo?.id ?? '', { dryRun: false })).toMatchObject({
    kind: 'done',
  });
  expect(await b.engine.live()).toEqual(['home: Bergen']);
  expect(await b.under({ runId: 'r2' })).toEqual(['home: Bergen']);
  await expectTrue(ledger);
});

it('a change by a request keeps nothing that was said in one run only', async () => {
  const b = await bench();
  await b.say('home: Oslo', { runId: 'r1' });
  const [id] = await b.engine.deps.ledger.memories.liveIds(DEFAULT_TENANT, scope());
  await b.writer.change(DEFAULT_TENANT, id ?? '', { text: 'home: Oslo, by the sea' });
  expect(await b.withdraw({ runId: 'r1' })).toMatchObject({ deleted: 1, kept: 0 });
});

it('stops after the most it may change, and goes on when it is asked again', async () => {
  const b = await bench();
  for (let i = 0; i <= SLICE; i += 1) await b.add(`number ${i}`, { runId: 'r1' });
  expect(await b.withdraw({ runId: 'r1' }, { ...FOR_GOOD, dryRun: true })).toMatchObject({ deleted: SLICE + 1 });
  const once = await b.withdraw({ runId: 'r1' }, { ...FOR_GOOD, most: SLICE });
  expect(once).toMatchObject({ deleted: SLICE, more: true });
  expect(await b.withdraw({ runId: 'r1' })).toMatchObject({ deleted: 1, more: false });
  expect(await b.engine.live()).toEqual([]);
});

async function bench() {
  const decide = keyedDecide((text) => text.split(':')[0] ?? text);
  const engine = await engineBench({ chat: fakeChat({ extract_facts: echoExtract, decide_operations: decide }) });
  const { deps } = engine;
  const writer = memoryWriter(deps);
  const written = { category: null, metadata: {}, immutable: false, validFrom: null, expiresAt: null };
  return {
    engine,
    writer,
    say: async (text: string, ids: Partial<Scope> = {}) => {
      await engine.post([text], { scope: ids });
      await engine.run();
    },
    add: (text: string, ids: Partial<Scope>) =>
      writer.add(DEFAULT_TENANT, { ...written, text, scope: scope({ userId: 'ann', ...ids }) }),
    withdraw: (named: NamedIds, how = FOR_GOOD) => withdrawer(deps).withdraw(DEFAULT_TENANT, named, how),
    under: async (named: NamedIds) => {
      const asked = { named, now: deps.tools.now() };
      const { results } = await deps.ledger.saidIds.memories(DEFAULT_TENANT, asked, { limit: 9, cursor: null });
      return results.map((memory) => newest(memory).text).sort();
    },
  };
}

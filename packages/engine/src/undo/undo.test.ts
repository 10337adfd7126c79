import {
  added,
  done,
  echoExtract,
  engineBench,
  expectTrue,
  fakeChat,
  home,
  keyedDecide,
  NEVER,
  scope,
  undoBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { extract } from '../consolidation/extract.ts';
import { recall } from '../consolidation/recall.ts';
import { EngineError } from '../errors.ts';
import { newest } from '../memories/evolve.ts';
import { memoryWriter, SLICE } from '../memories/write.ts';
import type { UndoResult } from '../ports/writers.ts';
import { sweepOutbox } from '../projection/project.ts';
import { DEFAULT_TENANT, type NamedIds, type Scope } from '../words.ts';
import { undoer, withdrawer } from './undo.ts';

const TENANT = DEFAULT_TENANT;
const ONCE = { cascade: false, dryRun: false };
const ALL = { cascade: true, dryRun: false };

describe('undoing a consolidation', () => {
  it('takes back what it said, and the undo taken back brings it again, bit for bit', async () => {
    const b = await undoBench();
    await b.say('home: Oslo');
    const before = await b.hash();
    const second = await b.say('home: Bergen', 'pet: cat');
    const after = await b.hash();
    expect(await b.engine.live()).toEqual(['home: Bergen', 'pet: cat']);
    const { undo, differences, undone } = done(await b.undoer.undo(TENANT, second, ONCE));
    expect(differences.map(({ before: was, after: now }) => [was, now])).toEqual(
      expect.arrayContaining([
        ['home: Bergen', 'home: Oslo'],
        ['pet: cat', null],
      ]),
    );
    expect(undone).toEqual([second]);
    expect(await b.hash()).toBe(before);
    expect(await b.found('cat')).not.toContain('pet: cat');
    await expectTrue(b.engine.deps.ledger);
    const redone = done(await b.undoer.redo(TENANT, undo?.id ?? '', { dryRun: false }));
    expect(redone.redone).toEqual([second]);
    expect(await b.hash()).toBe(after);
    expect(await b.found('cat')).toContain('pet: cat');
    await expectTrue(b.engine.deps.ledger);
  });

  it('is found by its words, what was said included, while the embedder does not answer', async () => {
    const b = await undoBench();
    await b.say('home: Oslo');
    const second = await b.say('pet: cat');
    const late = () => Promise.reject(new EngineError('too late', { code: 'model_timeout', retryable: true }));
    const { deps } = b.engine;
    // What was embedded before is not known any more, as after retention.
    const thoughts = { ...deps.ledger.thoughts, vectors: async () => new Map() };
    const hurried = undoer({
      ...deps,
      ledger: { ...deps.ledger, thoughts },
      embedder: { ...deps.embedder, embed: late },
    });
    const taken = await hurried.undo(TENANT, second, ONCE);
    expect(taken).toMatchObject({ kind: 'done', searchable: true });
    expect(await b.found('cat')).not.toContain('pet: cat');
    const redone = await hurried.redo(TENANT, done(taken).undo?.id ?? '', { dryRun: false });
    expect(redone).toMatchObject({ kind: 'done', searchable: true });
    expect((await deps.ledger.speech.unprojected(10)).length).toBeGreaterThan(0);
    while ((await sweepOutbox(deps, NEVER)) > 0);
    expect(await b.found('cat')).toContain('pet: cat');
    expect(await deps.ledger.speech.unprojected(10)).toEqual([]);
  });

  it('names what depends on it first, and changes nothing', async () => {
    const b = await undoBench();
    const first = await b.say('home: Oslo');
    const second = await b.say('home: Bergen', 'pet: cat');
    const third = await b.say('pet: dog');
    const [home] = await b.engine.memories();
    await b.writer.change(TENANT, home?.id ?? '', { text: 'home: Rome' });
    const before = await b.hash();
    const answer = await b.undoer.undo(TENANT, first, ONCE);
    expect(answer).toMatchObject({ kind: 'dependents' });
    const kinds = answer.kind === 'dependents' ? answer.dependents.map(({ kind, id }) => [kind, id]) : [];
    expect(kinds).toEqual([
      ['write', expect.stringMatching(/^evt_/)],
      ['consolidation', third],
      ['consolidation', second],
    ]);
    expect(await b.hash()).toBe(before);
    const shown = done(await b.undoer.undo(TENANT, first, { cascade: false, dryRun: true }));
    expect(shown).toMatchObject({ undo: null, undone: [first, third, second] });
    expect(await b.hash()).toBe(before);
  });

  it('takes all that depends on it back with it, as one undo', async () => {
    const b = await undoBench();
    const first = await b.say('home: Oslo');
    await b.say('home: Bergen', 'pet: cat');
    await b.say('pet: dog');
    await b.say('tea: green');
    const before = await b.hash();
    const { undo } = done(await b.undoer.undo(TENANT, first, ALL));
    expect(await b.engine.live()).toEqual(['tea: green']);
    done(await b.undoer.redo(TENANT, undo?.id ?? '', { dryRun: false }));
    expect(await b.hash()).toBe(before);
  });

  it('lets a deletion it made block no longer, and again once it is redone', async () => {
    const b = await undoBench();
    await b.say('home: Oslo');
    const [home] = await b.engine.memories();
    await b.writer.remove(TENANT, home?.id ?? '');
    const removedAt = b.engine.tools.now();
    await b.undoer.rollback(TENANT, b.ann, { to: removedAt - 1, dryRun: false });
    const stones = async () => {
      const { hash } = b.engine.deps.tools;
      return b.engine.deps.ledger.memories.tombstones(home?.lane as never, [hash('home oslo'), hash('home: oslo')]);
    };
    expect(await stones()).toEqual([]);
    expect(await b.engine.live()).toEqual(['home: Oslo']);
    const [rollback] = (await b.engine.deps.ledger.undos.list(TENANT, {}, { limit: 1, cursor: null })).results;
    done(await b.undoer.redo(TENANT, rollback?.id ?? '', { dryRun: false }));
    expect((await stones()).length).toBe(1);
    expect(await b.engine.live()).toEqual([]);
  });

  it('is refused for what is not applied, unknown, undone already, or of another tenant', async () => {
    const b = await undoBench();
    const id = await b.say('home: Oslo');
    expect(await b.undoer.undo(TENANT, 'con_unknown', ONCE)).toEqual({ kind: 'not_found' });
    expect(await b.undoer.undo('other' as never, id, ONCE)).toEqual({ kind: 'not_found' });
    const { undo } = done(await b.undoer.undo(TENANT, id, ONCE));
    expect(await b.undoer.undo(TENANT, id, ONCE)).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('undone'),
    });
    const redo = done(await b.undoer.redo(TENANT, undo?.id ?? '', { dryRun: false }));
    for (const again of [undo?.id, redo.undo?.id]) {
      expect(await b.undoer.redo(TENANT, again ?? '', { dryRun: false })).toMatchObject({ kind: 'refused' });
    }
    expect(await b.undoer.redo(TENANT, 'und_unknown', { dryRun: false })).toEqual({ kind: 'not_found' });
  });

  it('lets a consolidation that was decided on it meanwhile decide anew', async () => {
    const b = await undoBench();
    const first = await b.say('home: Oslo');
    const { ledger } = b.engine.deps;
    let undone: UndoResult | null = null;
    const inBetween = {
      ...ledger,
      memories: {
        ...ledger.memories,
        apply: async (...applied: Parameters<typeof ledger.memories.apply>) => {
          undone ??= await b.undoer.undo(TENANT, first, ONCE);
          return ledger.memories.apply(...applied);
        },
      },
    };
    const overtaken = await engineBench({
      chat: b.engine.deps.chat,
      stores: { ledger: inBetween, index: b.engine.deps.index },
    });
    overtaken.tools.set(b.engine.tools.now());
    // Both count their ids from 1: those of this one begin where the others have not come to.
    for (let i = 0; i < 100; i += 1) overtaken.tools.id('aud');
    const batch = await overtaken.post(['home: Bergen']);
    await overtaken.run();
    expect(undone).toMatchObject({ kind: 'done' });
    expect((await overtaken.plan(batch)).round).toBe(2);
    expect(await b.engine.live()).toEqual(['home: Bergen']);
    expect((await b.engine.memories()).filter(({ versions }) => versions.length > 0)).toHaveLength(1);
  });

  it('is seen by decisions before the index knows of it', async () => {
    const b = await undoBench();
    const first = await b.say('home: Oslo');
    const { ledger, index } = b.engine.deps;
    const blind = undoer({
      ...b.engine.deps,
      index: { ...index, withdraw: async () => Promise.reject(new Error('down')) },
    });
    expect(await blind.undo(TENANT, first, ONCE)).toMatchObject({ kind: 'done', searchable: false });
    expect(await ledger.overview.outbox()).toBe(2); // the memory, and the messages it came from
    await b.engine.post(['home: Bergen']);
    const [nudge] = await ledger.lanes.withWork(null, 1);
    b.engine.tools.advance(60_000);
    const claim = await ledger.lanes.claim(
      { lane: nudge?.lane as never, generation: nudge?.generation ?? 0 },
      { now: b.engine.tools.now(), window: { maxTokens: 1_000, maxBatches: 9 }, newConsolidationId: 'con_x' },
    );
    if (claim.kind !== 'claimed') return expect.unreachable('the lane is due');
    const gathered = await ledger.thoughts.gather(claim.turn, 10);
    const extracted = await extract(b.engine.deps, { turn: claim.turn, ...gathered }, NEVER);
    expect((await recall(b.engine.deps, extracted, NEVER)).candidates).toEqual([]);
    expect(gathered.recent).toEqual([]);
  });
});

describe('rolling a user back', () => {
  it('leads back to any time, and forward again', async () => {
    const b = await undoBench();
    const states: { at: number; hash: string }[] = [];
    const note = async () => {
      states.push({ at: b.engine.tools.now(), hash: await b.hash() });
      b.engine.tools.advance(1_000);
    };
    await b.say('home: Oslo', 'pet: cat');
    await note();
    const [home] = await b.engine.memories();
    await b.writer.change(TENANT, home?.id ?? '', { text: 'home: Rome' });
    await note();
    const third = await b.say('pet: dog');
    await note();
    await b.undoer.undo(TENANT, third, ONCE);
    await note();
    await b.writer.remove(TENANT, home?.id ?? '');
    await note();
    const last = states.at(-1)?.hash;
    for (const { at, hash } of states.toReversed()) {
      const { undo } = done(await b.undoer.rollback(TENANT, b.ann, { to: at, dryRun: false }));
      expect(await b.hash()).toBe(hash);
      await expectTrue(b.engine.deps.ledger);
      if (undo === null) continue;
      done(await b.undoer.redo(TENANT, undo.id, { dryRun: false }));
      expect(await b.hash()).toBe(last);
      b.engine.tools.advance(1_000);
    }
  });

  it('leaves waiting batches, other users and later words alone', async () => {
    const b = await undoBench();
    const start = b.engine.tools.now();
    await b.say('home: Oslo');
    await b.engine.post(['home: Lyon'], { userId: 'bob' });
    await b.engine.run();
    const waiting = await b.engine.post(['pet: cat']);
    done(await b.undoer.rollback(TENANT, b.ann, { to: start - 1, dryRun: false }));
    expect(await b.engine.live()).toEqual([]);
    expect(await b.engine.live('bob')).toEqual(['home: Lyon']);
    expect(await b.engine.deps.ledger.batches.get(TENANT, waiting)).toMatchObject({ state: 'pending' });
    await b.engine.run();
    expect(await b.engine.live()).toEqual(['pet: cat']);
    expect(await b.undoer.rollback(TENANT, { kind: 'user', id: 'nobody' }, { to: 0, dryRun: false })).toEqual({
      kind: 'not_found',
    });
  });

  it('is refused where it is too much for one transaction, and says how to do it in steps', async () => {
    const b = await undoBench();
    const { memories } = b.engine.deps.ledger;
    const at = home(await memories.laneOf(TENANT, b.ann, b.engine.tools.now()));
    const changes = Array.from({ length: 10_001 }, () => added(b.engine.tools, at));
    await memories.write(TENANT, { changes, tombstones: [], now: b.engine.tools.now() });
    const answer = await b.undoer.rollback(TENANT, b.ann, { to: 0, dryRun: false });
    expect(answer).toMatchObject({ kind: 'refused', why: expect.stringContaining('in steps') });
    expect((await memories.liveIds(TENANT, at.scope)).length).toBe(10_001);
  });

  it('that changes nothing leaves no trace', async () => {
    const b = await undoBench();
    await b.say('home: Oslo');
    const { undo } = done(await b.undoer.rollback(TENANT, b.ann, { to: b.engine.tools.now(), dryRun: false }));
    expect(undo).toBeNull();
    expect((await b.engine.deps.ledger.undos.list(TENANT, {}, { limit: 9, cursor: null })).results).toEqual([]);
  });
});

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

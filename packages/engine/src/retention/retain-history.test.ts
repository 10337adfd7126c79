import { done, expectTrue, NEVER, type UndoBench, undoBench, updated } from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { reviewer } from '../memories/review.ts';
import { REMOVED } from '../ports/ledger/erasures.ts';
import { project } from '../projection/project.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import { normaliseText } from '../text/normalise.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { previewRetention, sweepRetention } from './retain.ts';

const TENANT = DEFAULT_TENANT;
const NOW = { dryRun: false };
const ALL = { limit: 100, cursor: null };
const RULES = {
  ...DEFAULT_SETTINGS,
  retention: { messagesDays: null, plansDays: null, historyDays: 30, forgottenDays: null },
};

describe('former versions and their events', () => {
  let b: UndoBench;

  beforeEach(async () => {
    b = await undoBench();
    await b.engine.deps.ledger.settings.put(TENANT, RULES);
  });

  const days = (count: number): void => b.engine.tools.advance(count * DAY_MS);
  const sweep = () => sweepRetention(b.engine.deps, NEVER);
  const preview = async () => (await previewRetention(b.engine.deps, TENANT, RULES)).histories;
  const theOne = async () => {
    const [memory] = await b.engine.memories();
    if (memory === undefined) throw new Error('expected a memory');
    return memory;
  };
  const texts = async () => (await theOne()).versions.map(({ text }) => text);
  const everything = async (): Promise<string> => {
    const { memories, undos } = b.engine.deps.ledger;
    const all = await memories.every(null, 100);
    const events = await undos.events(
      TENANT,
      all.map(({ id }) => id),
    );
    const { points } = await b.engine.deps.index.page(null, 1_000);
    return JSON.stringify([all, events, points.filter(({ shelf }) => shelf === 'memories')]);
  };
  const sound = async (): Promise<void> => {
    await expectTrue(b.engine.deps.ledger);
    const { findings } = await examine(b.engine.deps, { depth: 'full', cancel: NEVER });
    expect(findings).toEqual([]);
  };

  it('stay while they are young, and lose their text, quote and metadata once they are not', async () => {
    await b.say('home: Oslo');
    days(100);
    await b.say('home: Rome');
    days(20);
    expect(await preview()).toBe(0);
    await sweep();
    expect(await texts()).toEqual(['home: Oslo', 'home: Rome']);
    days(20);
    expect(await preview()).toBe(1);
    await sweep();
    expect(await texts()).toEqual([REMOVED, 'home: Rome']);
    expect(await everything()).not.toContain('Oslo');
    expect(await preview()).toBe(0);
    expect(await b.found('Rome')).toEqual(['home: Rome']);
    await sound();
  });

  it('that were deleted still keep what was said before from coming back', async () => {
    await b.say('home: Oslo');
    const late = b.engine.tools.now();
    days(1);
    await b.writer.remove(TENANT, (await theOne()).id);
    days(40);
    await sweep();
    expect(await everything()).not.toContain('Oslo');
    await b.engine.post([{ content: 'home: Oslo', at: late }]);
    await b.engine.run();
    expect(await b.engine.live()).toEqual([]);
    await b.say('home: Oslo');
    expect(await b.engine.live()).toEqual(['home: Oslo']);
    await sound();
  });

  it('cannot be restored, and what would bring them back is refused and names them', async () => {
    await b.say('home: Oslo');
    days(10);
    const to = b.engine.tools.now();
    const change = await b.say('home: Rome');
    days(40);
    await sweep();
    const { id } = await theOne();
    expect(await b.writer.restore(TENANT, id, 1)).toEqual({ kind: 'removed' });
    const refused = { kind: 'removed', memoryIds: [id] };
    for (const dryRun of [true, false]) {
      expect(await b.undoer.undo(TENANT, change, { cascade: true, dryRun })).toEqual(refused);
      expect(await b.undoer.rollback(TENANT, b.ann, { to, dryRun })).toEqual(refused);
    }
    expect(await b.engine.live()).toEqual(['home: Rome']);
    await sound();
  });

  it('that are undone cannot be redone', async () => {
    const first = await b.say('home: Oslo');
    const { undo } = done(await b.undoer.undo(TENANT, first, { cascade: true, dryRun: false }));
    days(40);
    await sweep();
    const { id } = await theOne();
    expect(await b.undoer.redo(TENANT, undo?.id ?? '', NOW)).toEqual({ kind: 'removed', memoryIds: [id] });
    expect(await everything()).not.toContain('Oslo');
    await sound();
  });

  it('leave alone what an undo can still do: younger versions come back', async () => {
    await b.say('home: Oslo');
    await b.say('home: Rome');
    days(40);
    const last = await b.say('home: Bern');
    await sweep();
    expect(await texts()).toEqual([REMOVED, 'home: Rome', 'home: Bern']);
    done(await b.undoer.undo(TENANT, last, { cascade: false, dryRun: false }));
    expect(await b.engine.live()).toEqual(['home: Rome']);
    await sound();
  });

  it('that a write under way brings back are removed by the next sweep', async () => {
    await b.say('home: Oslo');
    await b.say('home: Rome');
    days(40);
    const { ledger, tools } = b.engine.deps;
    const stale = await theOne();
    await sweep();
    const changes = [updated(tools, stale, { text: 'home: Bern', previous: 'home: Rome' })];
    await ledger.memories.write(TENANT, { changes, tombstones: [], now: tools.now() });
    await project(b.engine.deps, { entries: await ledger.outbox.ofMemories([stale.id]), batches: [] }, NEVER);
    expect(await texts()).toEqual(['home: Oslo', 'home: Rome', 'home: Bern']);
    await sweep();
    expect(await texts()).toEqual([REMOVED, 'home: Rome', 'home: Bern']);
    expect(await everything()).not.toContain('Oslo');
    await sound();
  });

  it('keep what a deletion blocks through an undo of something else', async () => {
    await b.say('home: Oslo');
    const late = b.engine.tools.now();
    days(1);
    await b.writer.remove(TENANT, (await theOne()).id);
    days(40);
    await sweep();
    const { id, lane } = await theOne();
    const again = await b.say('home: Oslo');
    done(await b.undoer.undo(TENANT, again, { cascade: true, dryRun: false }));
    const blocked = b.engine.tools.hash(normaliseText('home: Oslo'));
    const stones = await b.engine.deps.ledger.memories.tombstones(lane, [blocked]);
    expect(stones.map(({ memoryId }) => memoryId)).toEqual([id]);
    await b.engine.post([{ content: 'home: Oslo', at: late }]);
    await b.engine.run();
    expect(await b.engine.live()).toEqual([]);
    await sound();
  });

  describe('reviews', () => {
    const settler = () => reviewer(b.engine.deps);
    const reviews = async () => (await b.engine.deps.ledger.reviews.list(TENANT, {}, ALL)).results;
    /** Says something that waits for a person, and answers with its review. */
    const wait = async (text: string): Promise<string> => {
      await b.engine.deps.ledger.settings.put(TENANT, { ...RULES, review: ['ADD', 'UPDATE', 'DELETE'] });
      await b.say(text);
      await b.engine.deps.ledger.settings.put(TENANT, RULES);
      return (await reviews())[0]?.id ?? '';
    };
    const textsOf = async (id: string) => {
      const { before, after, factText, reason, details } =
        (await reviews()).find((review) => review.id === id)?.operation ?? {};
      return { before, after, factText, reason, quote: details?.quote };
    };

    it('that were approved say what their memory still says, and lose the rest with its history', async () => {
      await b.say('home: Oslo');
      const id = await wait('home: Rome');
      await settler().approve(TENANT, id);
      days(20);
      await sweep();
      const { reason } = await textsOf(id);
      expect(await textsOf(id)).toMatchObject({ before: 'home: Oslo', after: 'home: Rome', reason });
      days(20);
      await sweep();
      expect(await textsOf(id)).toMatchObject({
        before: REMOVED,
        after: 'home: Rome',
        factText: 'home: Rome',
        reason: REMOVED,
      });
      await b.say('home: Bern');
      days(40);
      await sweep();
      expect(JSON.stringify(await reviews())).not.toMatch(/Oslo|Rome/u);
      expect((await examine(b.engine.deps, { depth: 'full', cancel: NEVER })).findings).toEqual([]);
    });

    it('that were rejected say nothing after that time, also where there never was a memory', async () => {
      await b.say('home: Oslo');
      const changed = await wait('home: Rome');
      const added = await wait('pet: cat');
      days(40);
      await settler().reject(TENANT, changed);
      await settler().reject(TENANT, added);
      await sweep();
      expect(await textsOf(changed)).toEqual({
        ...{ before: 'home: Oslo', after: REMOVED, factText: REMOVED, reason: REMOVED, quote: null },
      });
      expect(await textsOf(added)).toEqual({
        before: null,
        after: REMOVED,
        factText: REMOVED,
        reason: REMOVED,
        quote: null,
      });
      expect((await reviews()).map(({ state }) => state)).toEqual(['rejected', 'rejected']);
    });

    it('that wait keep what they need, whatever their age', async () => {
      await b.say('home: Oslo');
      const id = await wait('home: Rome');
      days(400);
      await sweep();
      expect((await settler().approve(TENANT, id)).kind).toBe('settled');
      expect(await b.engine.live()).toEqual(['home: Rome']);
    });

    it('that an undo ended say nothing after that time, and do not wait again with a redo', async () => {
      await b.say('home: Oslo');
      const id = await wait('home: Rome');
      const consolidationId = (await reviews())[0]?.consolidationId ?? '';
      const { undo } = done(await b.undoer.undo(TENANT, consolidationId, { cascade: true, dryRun: false }));
      days(40);
      await sweep();
      expect(await textsOf(id)).toMatchObject({ after: REMOVED });
      await b.undoer.redo(TENANT, undo?.id ?? '', NOW);
      expect((await reviews())[0]).toMatchObject({ state: 'stale' });
    });
  });
});

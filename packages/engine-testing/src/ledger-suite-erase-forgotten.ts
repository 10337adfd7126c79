import { evolve, livesOf, type Memory, type MemoryChange, type Plan, withoutFormer } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { deleted, heldOperation, newPlan, storedAnswer, updated } from './builders.ts';
import { relationsOf } from './graph-bench.ts';
import { apply, type Bench, expectThere, OTHER_TENANT, project, TENANT, write } from './ledger-bench.ts';
import { create, notices } from './ledger-bench-webhooks.ts';
import { everything, type Heard, heard, rememberedFrom, shown, taughtDebtAndTea } from './ledger-suite-forgetting.ts';
import { caseOf, suiteOf } from './ledger-suite-suites.ts';

/** What is forgotten for so long that it goes for good. */
export function describeErasingForgotten(bench: () => Bench): void {
  describe('what was forgotten long ago', () => {
    /** As the sweep of retention does: how many were erased, of those that were forgotten before now. */
    const erase = async (): Promise<number> => {
      const b = bench();
      const now = b.tools.now();
      const places = await b.ledger.retention.forgotten(TENANT, now, { after: null, limit: 10 });
      const ids = places.map(({ memoryId }) => memoryId);
      const lives = await livesOf(b.ledger, TENANT, ids);
      const removals = lives.map((life) => {
        const { memory, events } = withoutFormer(b.tools, life, Number.POSITIVE_INFINITY) ?? { ...life, events: [] };
        return { memory, events, textHashes: [] };
      });
      return b.ledger.retention.eraseForgotten(TENANT, removals, now);
    };
    const forget = async (memory: Memory): Promise<MemoryChange> => {
      const gone = deleted(bench().tools, memory, { forgets: true });
      await write(bench(), gone);
      return gone;
    };
    const later = async (): Promise<void> => {
      const b = bench();
      await projectAll(b);
      b.tools.advance(1_000);
    };

    it('is found by when it was recorded that it is gone, until it is erased or there again', async () => {
      const b = bench();
      const { retention } = b.ledger;
      const { turn, ids } = await heard(b, ['I like tea', 'I owe Bo']);
      const tea = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Likes tea', quote: 'I like tea' });
      const debt = rememberedFrom(b, { turn, ids: ids.slice(1) }, { text: 'Owes Bo', quote: 'I owe Bo' });
      await apply(b, turn, { changes: [tea, debt] });
      b.tools.advance(1_000);
      const first = await forget(tea.memory);
      await later();
      const now = b.tools.now();
      const second = deleted(b.tools, debt.memory, { forgets: true, saidAt: { at: now - 500, seq: 0 } });
      await write(b, second);
      const page = { after: null, limit: 10 };
      expect(await retention.forgotten(TENANT, now - 1_000, page)).toEqual([]);
      const teaPlace = { memoryId: tea.memory.id, from: now - 1_000 };
      expect(await retention.forgotten(TENANT, now, page)).toEqual([teaPlace]);
      const both = [teaPlace, { memoryId: debt.memory.id, from: now }];
      expect(await retention.forgotten(TENANT, now + 1, page)).toEqual(both);
      expect(await retention.forgotten(TENANT, now + 1, { after: teaPlace, limit: 10 })).toEqual(both.slice(1));
      expect(await retention.forgotten(OTHER_TENANT, now + 1, page)).toEqual([]);
      expect(await retention.tenants()).toEqual([TENANT]);
      await write(b, updated(b.tools, first.memory, { text: 'Likes tea' }));
      expect(await retention.forgotten(TENANT, now + 1, page)).toEqual(both.slice(1));
      await later();
      await retention.compacted((await retention.uncompacted()) ?? '');
      expect(await erase()).toBe(1);
      expect(await retention.forgotten(TENANT, now + 1, page)).toEqual([]);
      const removal = expectThere(await retention.uncompacted());
      await retention.compacted('another one');
      expect(await retention.uncompacted()).toBe(removal);
      await retention.compacted(removal);
      expect(await retention.uncompacted()).toBeNull();
    });

    it('leaves no words of it in messages, whose other words stay, and nothing to bring back', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, [
        'I like tea. I owe Bo ten euros. I have a cat.',
        'Bo will not let it rest',
      ]);
      const tea = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Likes tea', quote: 'I like tea' });
      const cat = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Has a cat', quote: 'I have a cat' });
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      await apply(b, turn, { changes: [tea, cat, debt] });
      const gone = await forget(debt.memory);
      await later();
      const noCat = await forget(cat.memory);
      await projectAll(b);
      const before = await shown(b, ids);
      expect(await erase()).toBe(1);
      expect(await shown(b, ids)).toEqual(before);
      expect(before).toEqual(['I like tea. [forgotten]. [forgotten].', { withheld: 'forgotten' }]);
      const reopened = await b.reopened();
      const left = expectThere(await reopened.memories.get(TENANT, debt.memory.id));
      const events = await reopened.undos.events(TENANT, [left.id]);
      expect(JSON.stringify([left, events])).not.toContain('euros');
      expect(evolve(left, null, events)).toEqual(left);
      // What else was forgotten is not, and comes back without the words that went.
      await write(b, updated(b.tools, noCat.memory, { text: 'Has a cat' }));
      expect(await shown(b, ids)).toEqual(['I like tea. [forgotten]. I have a cat.', { withheld: 'forgotten' }]);
      await write(
        b,
        updated(b.tools, expectThere(await b.ledger.memories.get(TENANT, gone.memory.id)), { text: 'Owes Bo' }),
      );
      expect(await shown(b, ids)).toEqual(['I like tea. [forgotten]. I have a cat.', { withheld: 'forgotten' }]);
    });

    it('takes plans and answers that tell of it, its reviews, deliveries and the wish with it', async () => {
      const b = bench();
      await create(b);
      const { turn, ids } = await heard(b, ['I owe Bo ten euros', 'I like tea. Forget that I owe Bo']);
      const [said = '', asked = ''] = ids;
      const debt = rememberedFrom(b, { turn, ids: [said] }, { text: 'Owes Bo ten euros', quote: 'I owe Bo ten euros' });
      const tea = rememberedFrom(b, { turn, ids: [asked] }, { text: 'Likes tea', quote: 'I like tea' });
      const { id: memoryId } = debt.memory;
      const reviews = [heldOperation(b.tools, { kind: 'DELETE', memoryId, after: null, forgets: true })];
      await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools));
      await b.ledger.thoughts.storePlan(turn, newPlan(turn));
      const wishes = [{ messageId: asked, quote: 'Forget that I owe Bo', memoryId }];
      await apply(b, turn, { changes: [debt, tea], reviews, wishes });
      const beside = await heard(b, ['Bo is a friend']);
      const candidates = [{ memoryId, text: 'Owes Bo ten euros' } as unknown as Plan['candidates'][number]];
      await b.ledger.thoughts.storePlan(beside.turn, newPlan(beside.turn, { candidates }));
      await apply(b, beside.turn);
      const apart = await heard(b, ['I have a cat']);
      await b.ledger.thoughts.storePlan(apart.turn, newPlan(apart.turn));
      await apply(b, apart.turn);
      await b.ledger.thoughts.storeVectors(turn.lane, 'v', new Map([['a0', Float32Array.of(1)]]));
      await forget(debt.memory);
      await later();
      expect(await erase()).toBe(1);
      expect(await shown(b, ids)).toEqual([{ withheld: 'forgotten' }, 'I like tea. [forgotten]']);
      const planOf = (of: Heard) => b.ledger.thoughts.plan(of.turn.consolidationId);
      expect([await planOf({ turn, ids }), await planOf(beside)]).toEqual([null, null]);
      expect(await planOf(apart)).not.toBeNull();
      expect(await b.ledger.thoughts.answers(turn.consolidationId)).toEqual([]);
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toMatchObject({ removedAt: b.tools.now() });
      expect(await b.ledger.reviews.get(TENANT, reviews[0]?.id ?? '')).toBeNull();
      expect((await notices(b)).map(({ data }) => data.memory_id)).toContain(tea.memory.id);
      expect((await notices(b)).map(({ data }) => data.memory_id)).not.toContain(memoryId);
      expect((await b.ledger.thoughts.vectors(turn.lane, 'v', ['a0'])).size).toBe(0);
    });

    it('takes the words of wishes that found nothing, what was thought of them, and cases of suites that say them', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I like tea. Forget that I owe Bo.', 'Forget that I owe Bo.']);
      const tea = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Likes tea', quote: 'I like tea' });
      const wishes = ids.map((messageId) => ({ messageId, quote: 'Forget that I owe Bo', memoryId: null }));
      await b.ledger.thoughts.storePlan(turn, newPlan(turn));
      await apply(b, turn, { changes: [tea], wishes });
      const suite = suiteOf(b, 'daily');
      await b.ledger.suites.create(suite, [{ ...caseOf(b, 0, turn.lane), content: { said: ids.slice(1) } }]);
      await later();
      expect(await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 })).toHaveLength(1);
      const how = { limit: 10, now: b.tools.now() };
      expect(await b.ledger.retention.tenants()).toEqual([TENANT]);
      expect(await b.ledger.retention.eraseWishes(TENANT, b.tools.now() - 1_000, how)).toBe(0);
      expect(await b.ledger.retention.eraseWishes(OTHER_TENANT, b.tools.now(), how)).toBe(0);
      expect(await b.ledger.retention.eraseWishes(TENANT, b.tools.now(), how)).toBe(2);
      expect(await b.ledger.retention.eraseWishes(TENANT, b.tools.now(), how)).toBe(0);
      expect(await shown(b, ids)).toEqual(['I like tea. [forgotten].', { withheld: 'forgotten' }]);
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toBeNull();
      expect(await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 })).toEqual([]);
      // Nothing is left to come back: also what hides it again hides no more.
      const gone = await forget(tea.memory);
      await write(b, updated(b.tools, gone.memory, { text: 'Likes tea' }));
      expect(await shown(b, ids)).toEqual(['I like tea. [forgotten].', { withheld: 'forgotten' }]);
    });

    it('takes the statements that lean on it alone, whom only they name, and leaves what others say', async () => {
      const b = bench();
      const { lane, memory } = await taughtDebtAndTea(b);
      await forget(memory);
      const before = await everything(b, lane);
      await later();
      expect(await erase()).toBe(1);
      expect(await everything(b, lane)).toEqual(before);
      expect((await b.ledger.graph.entities(TENANT, ['Ana', 'Bo', 'tea'])).map(({ id }) => id).sort()).toEqual([
        'Ana',
        'tea',
      ]);
      expect(await relationsOf(b, lane)).toEqual(['Ana likes tea']);
    });

    it('is left while its lane is worked on, the index does not know all of it, or it was changed meanwhile', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I owe Bo']);
      const debt = rememberedFrom(b, { turn, ids }, { text: 'Owes Bo', quote: 'I owe Bo' });
      await apply(b, turn, { changes: [debt] });
      const gone = await forget(debt.memory);
      b.tools.advance(1_000);
      expect(await erase()).toBe(0);
      await later();
      const next = await heard(b, ['I like tea']);
      expect(await erase()).toBe(0);
      await apply(b, next.turn);
      await projectAll(b);
      const before = await b.ledger.retention.uncompacted();
      const old = { memory: debt.memory, events: [], textHashes: [] };
      expect(await b.ledger.retention.eraseForgotten(TENANT, [old], b.tools.now())).toBe(0);
      expect(await b.ledger.retention.eraseForgotten(OTHER_TENANT, [{ ...old, memory: gone.memory }], 1)).toBe(0);
      expect(await b.ledger.retention.uncompacted()).toBe(before);
      expect(await erase()).toBe(1);
    });
  });
}

/** The index has all that there is. */
async function projectAll(b: Bench): Promise<void> {
  await project(b);
  const items = await b.ledger.graph.unprojected(100);
  await b.ledger.graph.projected(
    items.map((item) => {
      const { id, revision } = item.kind === 'entity' ? item.entity : item.relation;
      return { kind: item.kind, id, revision };
    }),
  );
}

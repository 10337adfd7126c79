import type { LaneId, Suite, SuiteCase } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { deleted } from './builders.ts';
import { ALL, ANN, apply, type Bench, laneOf, OTHER_TENANT, SECOND, store, TENANT, write } from './ledger-bench.ts';
import { eraseAll, request } from './ledger-suite-erasures.ts';
import { heard, rememberedFrom } from './ledger-suite-forgetting.ts';

const SUITE = { origin: 'file', masked: false, margins: { facts_kept: { by: 0.1 } } } as const;

export function suiteOf(b: Bench, name: string): Suite {
  return { ...SUITE, id: b.tools.id('sui'), tenant: TENANT, name, createdAt: b.tools.now() };
}

export const caseOf = (b: Bench, place: number, lane: LaneId | null = null): Omit<SuiteCase, 'suiteId'> => ({
  ...{ id: b.tools.id('sca'), place, lane, owner: ANN },
  content: { said: `case ${place}` },
});

export function describeSuites(bench: () => Bench): void {
  describe('a suite', () => {
    it('has a name of its own, belongs to one tenant, and is listed newest first', async () => {
      const b = bench();
      const first = suiteOf(b, 'daily');
      expect(await b.ledger.suites.create(first, [])).toBe(true);
      expect(await b.ledger.suites.create({ ...suiteOf(b, 'daily'), masked: true }, [caseOf(b, 0)])).toBe(false);
      expect(await b.ledger.suites.create({ ...suiteOf(b, 'daily'), tenant: OTHER_TENANT }, [])).toBe(true);
      b.tools.advance(SECOND);
      const second = { ...suiteOf(b, 'weekly'), origin: 'production', masked: true } as const;
      await b.ledger.suites.create(second, []);
      expect(await b.ledger.suites.find(TENANT, 'daily')).toEqual(first);
      expect(await b.ledger.suites.get(TENANT, second.id)).toEqual(second);
      expect(await b.ledger.suites.get(OTHER_TENANT, second.id)).toBeNull();
      expect(await b.ledger.suites.find(OTHER_TENANT, 'weekly')).toBeNull();
      const page = await b.ledger.suites.list(TENANT, { limit: 1, cursor: null });
      expect(page.results).toEqual([second]);
      expect((await b.ledger.suites.list(TENANT, { limit: 1, cursor: page.nextCursor })).results).toEqual([first]);
    });

    it('gives its cases in their order, page by page, and takes them with it', async () => {
      const b = bench();
      const suite = suiteOf(b, 'daily');
      const cases = [0, 1, 2].map((place) => caseOf(b, place));
      await b.ledger.suites.create(suite, cases);
      const [first, second] = await b.ledger.suites.cases(suite.id, { after: -1, limit: 2 });
      expect([first, second]).toEqual(cases.slice(0, 2).map((one) => ({ ...one, suiteId: suite.id })));
      expect(await b.ledger.suites.cases(suite.id, { after: 1, limit: 2 })).toMatchObject([{ place: 2 }]);
      expect(await b.ledger.suites.setMargins(OTHER_TENANT, suite.id, {})).toBe(false);
      expect(await b.ledger.suites.setMargins(TENANT, suite.id, { stale: null })).toBe(true);
      expect((await b.ledger.suites.get(TENANT, suite.id))?.margins).toEqual({ stale: null });
      expect(await b.ledger.suites.remove(OTHER_TENANT, suite.id)).toBe(false);
      expect(await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 })).toHaveLength(3);
      expect(await b.ledger.suites.remove(TENANT, suite.id)).toBe(true);
      expect(await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 })).toEqual([]);
    });

    it('loses the cases of an owner who is erased, and takes no others of them meanwhile', async () => {
      const b = bench();
      await store(b);
      const lane = (await laneOf(b)).id;
      const suite = suiteOf(b, 'daily');
      await b.ledger.suites.create(suite, [caseOf(b, 0, lane), caseOf(b, 1)]);
      await eraseAll(b, (await request(b)).id);
      expect(await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 })).toMatchObject([{ place: 1 }]);
      const later = suiteOf(b, 'later');
      await b.ledger.suites.create(later, [caseOf(b, 0, lane)]);
      expect(await b.ledger.suites.cases(later.id, { after: -1, limit: 9 })).toEqual([]);
    });

    it('loses the cases that say what is forgotten, with the spaces and the words of its runs, and takes no others', async () => {
      const b = bench();
      const { turn, ids } = await heard(b, ['I owe Bo ten euros', 'I like tea']);
      const debt = rememberedFrom(b, { turn, ids: ids.slice(0, 1) }, { text: 'Owes Bo', quote: 'I owe Bo' });
      const tea = rememberedFrom(b, { turn, ids: ids.slice(1) }, { text: 'Likes tea', quote: 'I like tea' });
      await apply(b, turn, { changes: [debt, tea] });
      const saying = (place: number, ...said: readonly (string | undefined)[]) => ({
        ...caseOf(b, place, turn.lane),
        content: { said: said.map((id) => ({ id: id ?? '' })) },
      });
      const suite = suiteOf(b, 'daily');
      const cases = [saying(0, ids[0]), saying(1, ids[1]), saying(2, debt.memory.id), caseOf(b, 3)];
      await b.ledger.suites.create(suite, cases);
      const run = async (suiteId: string): Promise<string> => {
        const id = b.tools.id('rpl');
        const filter = { states: [], suite: suiteId };
        await b.ledger.replays.create({
          ...{ id, tenant: TENANT, kind: 'suite', filter, changes: {}, matched: 1, batchIds: [] },
          ...{ idempotency: null, now: b.tools.now() },
        });
        const differences = [
          { owner: { ...ANN }, life: 'Owes Bo' },
          { owner: { kind: 'user', id: 'eve' }, life: 'Has a cat' },
        ];
        await b.ledger.replays.move(id, {
          ...{ from: 'preparing', to: 'done', dueAt: b.tools.now() },
          result: { passed: true, differences, relations: null },
        });
        return id;
      };
      const [own, other] = [await run(suite.id), await run('sui_other')];
      await write(b, deleted(b.tools, debt.memory, { forgets: true }));
      const left = await b.ledger.suites.cases(suite.id, { after: -1, limit: 9 });
      expect(left.map(({ place }) => place)).toEqual([1, 3]);
      expect(await b.ledger.replays.get(TENANT, own)).toMatchObject({
        state: 'discarding',
        result: { passed: true, differences: [{ life: 'Has a cat' }] },
      });
      expect(await b.ledger.replays.get(TENANT, other)).toMatchObject({ state: 'done' });
      const later = suiteOf(b, 'later');
      await b.ledger.suites.create(
        later,
        cases.map((one) => ({ ...one, id: b.tools.id('sca') })),
      );
      const taken = await b.ledger.suites.cases(later.id, { after: -1, limit: 9 });
      expect(taken.map(({ place }) => place)).toEqual([1, 3]);
      // Without its cases it could not be told what of a suite is forgotten later.
      const last = await run(later.id);
      await b.ledger.suites.remove(TENANT, later.id);
      expect(await b.ledger.replays.get(TENANT, last)).toMatchObject({
        state: 'discarding',
        result: { passed: true, differences: [] },
      });
    });

    it('keeps what people think of a run, the last word of each', async () => {
      const b = bench();
      const id = b.tools.id('rpl');
      await b.ledger.replays.create({
        ...{ id, tenant: TENANT, kind: 'suite', filter: { states: [] }, changes: {}, matched: 1, batchIds: [] },
        ...{ idempotency: null, now: b.tools.now() },
      });
      const ana = { item: 'con_1/f0', by: 'ana', verdict: 'agree' } as const;
      const bo = { item: 'con_1/f0', by: 'bo', verdict: 'wrong' } as const;
      await b.ledger.suites.assess(id, [bo, ana]);
      await b.ledger.suites.assess(id, [
        { ...ana, verdict: 'wrong' },
        { item: 'msg_1', by: 'ana', verdict: 'missing' },
      ]);
      expect(await b.ledger.suites.assessments(id)).toEqual([
        { ...ana, verdict: 'wrong' },
        bo,
        { item: 'msg_1', by: 'ana', verdict: 'missing' },
      ]);
      expect(await b.ledger.suites.assessments('rpl_other')).toEqual([]);
    });

    it('has runs, which spend no more than they may', async () => {
      const b = bench();
      const suite = suiteOf(b, 'daily');
      await b.ledger.suites.create(suite, []);
      const run = async (id: string | undefined): Promise<string> => {
        const replay = b.tools.id('rpl');
        const filter = { states: [], ...(id !== undefined && { suite: id }) };
        await b.ledger.replays.create({
          ...{ id: replay, tenant: TENANT, kind: 'suite', filter, changes: {}, matched: 1, batchIds: [] },
          ...{ idempotency: null, now: b.tools.now() },
        });
        b.tools.advance(SECOND);
        return replay;
      };
      const [first, second] = [await run(suite.id), await run(suite.id)];
      await run('sui_other');
      const { results } = await b.ledger.suites.runs(TENANT, suite.id, ALL);
      expect(results.map(({ id }) => id)).toEqual([second, first]);
      expect((await b.ledger.suites.runs(OTHER_TENANT, suite.id, ALL)).results).toEqual([]);
      const reserve = (id: string, least: number, most = least) => {
        const now = b.tools.now();
        return b.ledger.replays.reserve(first, { id, least, most, budget: 100, now, until: now + SECOND });
      };
      const [tried, another] = await Promise.all([reserve('one', 60), reserve('two', 60)]);
      expect(
        [tried, another].filter((one) => one === 60),
        'of two at once one has room',
      ).toHaveLength(1);
      const open = tried === null ? 'two' : 'one';
      expect(await reserve('three', 20, 200), 'what is left').toBe(40);
      expect(await reserve('four', 1)).toBeNull();
      await b.ledger.replays.settle(first, { id: open, tokens: 30 });
      expect(await b.ledger.replays.get(TENANT, first)).toMatchObject({
        ...{ kind: 'suite', spent: 30 },
        reserved: [{ id: 'three', tokens: 40 }],
      });
      b.tools.advance(SECOND);
      expect(await reserve('five', 70), 'whoever had reserved the others has died').toBe(70);
      await b.ledger.replays.settle(first, { id: 'five', tokens: 70 });
      expect(await b.ledger.replays.get(TENANT, first)).toMatchObject({ spent: 100, reserved: [] });
      expect(await b.ledger.replays.get(TENANT, second)).toMatchObject({ spent: 0 });
    });
  });
}

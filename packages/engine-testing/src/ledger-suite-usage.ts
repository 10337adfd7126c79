import { CALLS_KEPT_MS, spaceOf, type UsageAsked, type UsageRow } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope, sentCall, settledCall, user } from './builders.ts';
import { apply, type Bench, claimedBatch, nextTurn, OTHER_TENANT, store, TENANT } from './ledger-bench.ts';

const SPACE = spaceOf({ tenant: TENANT, replay: 'rpl_1' });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export function describeUsage(bench: () => Bench): void {
  const asked = (b: Bench, given: Partial<UsageAsked> = {}): UsageAsked => {
    const from = b.tools.now() - (b.tools.now() % DAY);
    return { groups: [], from, to: from + DAY, ...given };
  };
  const report = (b: Bench, given: Partial<UsageAsked> = {}, page = { limit: 100, offset: 0 }) =>
    b.ledger.usage.report(TENANT, asked(b, given), page);
  const tokens = ({ answered, unanswered }: UsageRow) => [answered.promptTokens, unanswered.promptTokens];

  describe('the use of models, call by call', () => {
    it('counts a call as unanswered until it is settled, and then as what it was', async () => {
      const b = bench();
      const { usage } = b.ledger;
      const { turn } = await claimedBatch(b);
      const sent = sentCall(b.tools, turn, { cost: 0.25 });
      for (const _ of [1, 2]) await usage.note(sent);
      const nothing = { calls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0, cost: 0, unpriced: 0 };
      const noted = { ...nothing, calls: 1, promptTokens: 7, cost: 0.25 };
      const unsettled = { group: {}, answered: { ...nothing, tookMs: 0 }, refused: 0, unanswered: noted };
      const known = { usage: { promptTokens: 9, cachedTokens: 4, completionTokens: 3 }, cost: 0.75, model: 'dated' };
      expect(await report(b)).toEqual([unsettled]);
      for (const _ of [1, 2])
        await usage.settle([settledCall(b.tools, turn, { ...known, id: sent.id, noted: sent, at: sent.at })]);
      await usage.note(sent);
      const answered = { calls: 1, ...known.usage, cost: 0.75, unpriced: 0, tookMs: 10 };
      const settled = { group: {}, answered, refused: 0, unanswered: nothing };
      expect(await report(b)).toEqual([settled]);
      const hour = sent.at - (sent.at % HOUR);
      expect(await report(b, { groups: ['hour'] })).toEqual([{ ...settled, group: { hour } }]);
      const byModel = await report(b, { groups: ['model'] });
      expect(byModel.filter(({ answered: { calls } }) => calls > 0)).toEqual([
        { ...settled, group: { model: 'dated' } },
      ]);
      expect(byModel.every((row) => row.unanswered.calls === 0)).toBe(true);
    });

    it('counts what was refused as that alone, and what has no price by its tokens', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const sent = sentCall(b.tools, turn);
      await b.ledger.usage.note(sent);
      const refused = { id: sent.id, outcome: 'refused', noted: sent, cost: 0 } as const;
      await b.ledger.usage.settle([settledCall(b.tools, turn, refused), settledCall(b.tools, turn, { cost: null })]);
      const [row] = await report(b);
      expect(row).toMatchObject({
        answered: { calls: 1, promptTokens: 100, cost: 0, unpriced: 1 },
        ...{ refused: 1, unanswered: { calls: 0, promptTokens: 0, unpriced: 0 } },
      });
    });

    it('is told by day, step, model and cause, and by hour, user, app and key', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const bobs = await nextTurn(b, { owner: user('bob') });
      const at = b.tools.now();
      const priced = (promptTokens: number) => ({ usage: { promptTokens, completionTokens: 0 }, at });
      await b.ledger.usage.settle([
        settledCall(b.tools, turn, { ...priced(1), appId: 'shop', keyId: 'key_1' }),
        settledCall(b.tools, turn, { ...priced(2), step: 'decide', cause: 'retry' }),
        settledCall(b.tools, bobs, { ...priced(4), model: 'other', appId: 'shop' }),
        settledCall(b.tools, { ...turn, tenant: SPACE }, { ...priced(8), lane: null, cause: 'what-if' }),
        settledCall(b.tools, { ...turn, tenant: OTHER_TENANT }, { ...priced(16), lane: null }),
      ]);
      const by = async (...groups: UsageAsked['groups']) =>
        (await report(b, { groups })).map(({ group, answered }) => [...Object.values(group), answered.promptTokens]);
      const day = at - (at % DAY);
      expect(await by('day')).toEqual([[day, 15]]);
      expect(await by('hour')).toEqual([[at - (at % HOUR), 15]]);
      expect(await by('day', 'step')).toEqual([
        [day, 'decide', 2],
        [day, 'extract', 13],
      ]);
      expect(await by('cause')).toEqual([
        ['live', 5],
        ['retry', 2],
        ['what-if', 8],
      ]);
      expect(await by('model')).toEqual([
        ['other', 4],
        ['scripted', 11],
      ]);
      const named = async (group: 'user' | 'app' | 'key') =>
        Object.fromEntries((await by(group)).map(([name, sum]) => [String(name), sum]));
      expect(await named('user')).toEqual({ ann: 3, bob: 4, null: 8 });
      expect(await named('app')).toEqual({ shop: 5, null: 10 });
      expect(await named('key')).toEqual({ key_1: 1, null: 14 });
      expect((await report(b, { userId: 'ann', step: 'decide' })).map(tokens)).toEqual([[2, 0]]);
      expect((await report(b, { appId: 'shop', model: 'other' })).map(tokens)).toEqual([[4, 0]]);
      expect(await report(b, { userId: 'nobody' })).toEqual([]);
      expect((await report(b, { cause: 'live', from: day - DAY })).map(tokens)).toEqual([[5, 0]]);
      expect(await report(b, { from: day + DAY, to: day + 2 * DAY })).toEqual([]);
      expect((await report(b, { groups: ['cause'] }, { limit: 1, offset: 1 })).map(({ group }) => group)).toEqual([
        { cause: 'retry' },
      ]);
    });

    it('is kept by day for ever, and call by call for a while', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await b.ledger.usage.settle([settledCall(b.tools, turn), settledCall(b.tools, turn)]);
      const { now } = b.tools;
      expect(await b.ledger.usage.drop(now() - CALLS_KEPT_MS, 10)).toBe(0);
      expect(await b.ledger.usage.drop(now() + 1, 1)).toBe(1);
      expect(await report(b, { groups: ['hour'] })).toMatchObject([{ answered: { calls: 1 } }]);
      expect(await b.ledger.usage.drop(now() + 1, 10)).toBe(1);
      expect(await report(b, { groups: ['hour'] })).toEqual([]);
      expect(await report(b, { groups: ['day'] })).toMatchObject([{ answered: { calls: 2 } }]);
    });

    it('is known by owner for what was consolidated, live and as backfill apart', async () => {
      const b = bench();
      const past = (backfill: boolean, limit = 10) =>
        b.ledger.usage.past(TENANT, { since: b.tools.now() - DAY, backfill, limit });
      expect(await past(false)).toEqual([]);
      for (const priority of ['live', 'live', 'backfill'] as const) {
        await store(b, { priority, tokens: 50 });
        const turn = await nextTurn(b);
        await b.ledger.usage.settle([settledCall(b.tools, turn), settledCall(b.tools, turn, { cost: null })]);
        await b.ledger.usage.note(sentCall(b.tools, turn));
        await apply(b, turn);
      }
      await claimedBatch(b);
      const once = {
        consolidations: 1,
        saidTokens: 50,
        messages: 1,
        promptTokens: 200,
        completionTokens: 40,
        cost: 0.5,
        unpriced: 1,
      };
      expect(await past(true)).toEqual([once]);
      expect(await past(false)).toEqual([
        Object.fromEntries(Object.entries(once).map(([name, sum]) => [name, 2 * sum])),
      ]);
      expect(await past(false, 1)).toEqual([]);
      expect(await b.ledger.usage.past(OTHER_TENANT, { since: 0, backfill: false, limit: 10 })).toEqual([]);
    });

    it('is counted to the key that posted the first batch of a window, also after a restart', async () => {
      const b = bench();
      await store(b, { keyId: 'key_1' });
      expect((await nextTurn(b)).keyId).toBe('key_1');
      const later = await b.reopened();
      const [nudge] = await later.lanes.withWork(null, 1);
      if (nudge === undefined) throw new Error('a lane with work was expected');
      const how = { now: b.tools.now() + DAY, window: { maxTokens: 1, maxBatches: 1 }, newConsolidationId: 'con_x' };
      expect(await later.lanes.claim(nudge, how)).toMatchObject({ kind: 'claimed', turn: { keyId: 'key_1' } });
    });

    it('of an owner who was erased meanwhile is counted to the day, and names nobody', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const gone = { ...turn, lane: `${turn.lane}x` as typeof turn.lane };
      const sent = sentCall(b.tools, gone);
      await b.ledger.usage.settle([settledCall(b.tools, gone, { id: sent.id })]);
      expect(await report(b, { groups: ['day'] })).toMatchObject([{ answered: { calls: 1 } }]);
      expect(await report(b, { groups: ['user'] })).toEqual([]);
    });

    it('of an owner who was erased meanwhile counts once, however often it is noted and settled', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const gone = { ...turn, lane: `${turn.lane}x` as typeof turn.lane };
      const sent = sentCall(b.tools, gone);
      const settled = { ...settledCall(b.tools, gone, { id: sent.id }), noted: sent };
      for (let times = 0; times < 2; times += 1) await b.ledger.usage.note(sent);
      expect(await report(b, { groups: ['day'] })).toMatchObject([{ unanswered: { calls: 1 } }]);
      for (let times = 0; times < 2; times += 1) await b.ledger.usage.settle([settled]);
      expect(await report(b, { groups: ['day'] })).toMatchObject([
        { answered: { calls: 1 }, unanswered: { calls: 0 } },
      ]);
      expect(await report(b, { groups: ['user'] })).toEqual([]);
    });

    it('of an owner who was erased before it was noted counts once, whatever becomes of it', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const gone = { ...turn, lane: `${turn.lane}x` as typeof turn.lane };
      const day = async () => {
        const [{ answered, refused, unanswered } = { answered: null, refused: 0, unanswered: null }] = await report(b, {
          groups: ['day'],
        });
        return [answered?.calls, refused, unanswered?.calls, unanswered?.promptTokens, unanswered?.cost];
      };
      const calls = ['answered', 'refused', null].map((outcome) => ({ outcome, sent: sentCall(b.tools, gone) }));
      for (const { sent } of calls) expect(await b.ledger.usage.note(sent)).toBe(true);
      const { usage, cost } = calls[0]?.sent ?? sentCall(b.tools, gone);
      expect(await day()).toEqual([0, 0, 3, 3 * usage.promptTokens, 3 * (cost ?? 0)]);
      for (const { outcome, sent } of calls) {
        if (outcome === null) continue;
        const settled = { ...settledCall(b.tools, gone, { id: sent.id }), noted: sent };
        await b.ledger.usage.settle([{ ...settled, outcome: outcome as 'answered' | 'refused' }]);
      }
      expect(await day()).toEqual([1, 1, 1, usage.promptTokens, cost ?? 0]);
    });
  });
}

import { InvalidCursorError, type OwnersAsked, spaceOf, type Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, deleted, home, scope, sentCall, settledCall, storedAnswer, updated, user } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  claimedBatch,
  expectKind,
  fail,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  POLICY,
  project,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

const NO_BATCHES = {
  accepted: 0,
  pending: 0,
  consolidating: 0,
  consolidated: 0,
  empty: 0,
  parked: 0,
  undone: 0,
  erased: 0,
};

const DAY = 24 * 60 * MINUTE;

/** Its prompt was read, but no answer came. */
export function describeOverview(bench: () => Bench): void {
  describe('the counts', () => {
    it('are all zero in a new ledger', async () => {
      const { ledger, tools } = bench();
      expect(await ledger.overview.batches(TENANT)).toEqual(NO_BATCHES);
      expect(await ledger.overview.memories(TENANT)).toEqual({ live: 0, versions: 0 });
      expect(await ledger.overview.ownerCount(TENANT)).toBe(0);
      expect(await ledger.overview.outbox()).toBe(0);
      expect(await ledger.overview.lastBackup()).toBeNull();
      expect(await ledger.overview.oldestDue(tools.now())).toBeNull();
    });

    it('of batches follow them from state to state', async () => {
      const b = bench();
      const counts = () => b.ledger.overview.batches(TENANT);
      const { turn } = await claimedBatch(b);
      expect(await counts()).toEqual({ ...NO_BATCHES, accepted: 1, consolidating: 1 });
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      await project(b);
      expect(await counts()).toEqual({ ...NO_BATCHES, accepted: 1, consolidated: 1 });
      const { turn: second } = await claimedBatch(b);
      await apply(b, second);
      const { turn: third } = await claimedBatch(b);
      await fail(b, third, { retryable: false });
      await store(b);
      expect(await counts()).toEqual({ ...NO_BATCHES, accepted: 4, consolidated: 1, empty: 1, parked: 1, pending: 1 });
    });

    it('of what is still to do leave out what is done, and go no further than asked', async () => {
      const b = bench();
      const { backlog } = b.ledger.overview;
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      for (const userId of ['bob', 'cid', 'dan']) await store(b, { scope: scope({ userId }) });
      await store(b, { tenant: OTHER_TENANT });
      await nextTurn(b, { owner: user('bob') });
      expect(await backlog(TENANT, 100)).toBe(3);
      expect(await backlog(TENANT, 2)).toBe(2);
      expect(await backlog(OTHER_TENANT, 100)).toBe(1);
      expect(await backlog(null, 100)).toBe(4);
      expect(await backlog(null, 3)).toBe(3);
    });

    it('of memories distinguish the live from all versions', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const [one, two] = [added(b.tools, home(lane)), added(b.tools, home(lane))];
      await write(b, one, two);
      b.tools.advance(SECOND);
      await write(b, updated(b.tools, one.memory, { text: 'Lives in Rome' }), deleted(b.tools, two.memory));
      expect(await b.ledger.overview.memories(TENANT)).toEqual({ live: 1, versions: 3 });
    });
  });

  describe('the use of models', () => {
    it('is counted per consolidation and in total, failed calls too', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const answered = (of: Turn, step = 'extract') =>
        b.ledger.thoughts.storeAnswer(of, storedAnswer(b.tools, { step }), settledCall(b.tools, of));
      await answered(turn);
      await answered(turn, 'decide');
      await b.ledger.usage.note(sentCall(b.tools, turn));
      await apply(b, turn);
      const { turn: next } = await claimedBatch(b);
      await answered(next);
      const first = { calls: 3, failedCalls: 1, promptTokens: 207, cachedTokens: 0, completionTokens: 40 };
      expect(await b.ledger.overview.usageOf(turn.consolidationId)).toEqual(first);
      expect(await b.ledger.overview.usage(TENANT)).toEqual({
        ...first,
        calls: 4,
        promptTokens: 307,
        completionTokens: 60,
      });
    });

    it('is counted per model, step and UTC day, with the money it cost then, for a tenant and for each of its lanes, summaries included', async () => {
      const b = bench();
      const { overview, usage } = b.ledger;
      const { turn } = await claimedBatch(b);
      await usage.note(sentCall(b.tools, turn, { model: 'other' }));
      await store(b, { scope: scope({ userId: 'bob' }) });
      const bobs = await nextTurn(b, { owner: user('bob') });
      const small = { usage: { promptTokens: 7, completionTokens: 0 }, step: 'summary', cause: 'summary' } as const;
      await usage.settle([
        settledCall(b.tools, turn),
        settledCall(b.tools, bobs),
        settledCall(b.tools, { ...bobs, consolidationId: '' }, small),
      ]);
      const answered = { failedCalls: 0, promptTokens: 100, cachedTokens: 0, completionTokens: 20 };
      const one = { model: 'scripted', step: 'extract', calls: 1, ...answered, cost: 0.5 };
      const other = { ...one, model: 'other', failedCalls: 1, promptTokens: 7, completionTokens: 0 };
      const summary = { ...one, step: 'summary', promptTokens: 7, completionTokens: 0 };
      const now = b.tools.now();
      expect(await overview.usageOfDay({ lane: turn.lane }, now)).toEqual([other, one]);
      expect(await overview.usageOfDay({ lane: bobs.lane }, now)).toEqual([one, summary]);
      const both = { ...one, calls: 2, promptTokens: 200, completionTokens: 40, cost: 1 };
      expect(await overview.usageOfDay({ tenant: TENANT }, now)).toEqual([other, both, summary]);
      expect(await overview.usageOfDay({ tenant: OTHER_TENANT }, now)).toEqual([]);
      expect(await overview.usageOfDay({ tenant: TENANT }, now + DAY)).toEqual([]);
      expect(await overview.usageOfDay({ lane: turn.lane }, now + DAY)).toEqual([]);
    });

    it('for owners who have no lane is counted together, for the tenant, and makes nobody known', async () => {
      const b = bench();
      const { overview, usage } = b.ledger;
      const now = b.tools.now();
      const { turn } = await claimedBatch(b);
      const small = { usage: { promptTokens: 7, completionTokens: 0 }, at: now };
      for (const tenant of [TENANT, TENANT, OTHER_TENANT])
        await usage.settle([settledCall(b.tools, { ...turn, tenant }, { ...small, lane: null })]);
      await usage.settle([settledCall(b.tools, turn, small)]);
      const used = { model: 'scripted', step: 'extract', failedCalls: 0, cachedTokens: 0 };
      const ofStrangers = [{ ...used, calls: 2, promptTokens: 14, completionTokens: 0, cost: 1 }];
      expect(await overview.usageOfDay({ strangersOf: TENANT }, now)).toEqual(ofStrangers);
      expect(await overview.usageOfDay({ tenant: TENANT }, now)).toMatchObject([{ calls: 3 }]);
      expect(await overview.usageOfDay({ strangersOf: TENANT }, now + DAY)).toEqual([]);
      expect(await overview.ownerCount(OTHER_TENANT)).toBe(0);
      expect(await overview.usage(OTHER_TENANT)).toMatchObject({ calls: 1, promptTokens: 7 });
    });

    it('is zero for a consolidation without calls', async () => {
      const none = { calls: 0, failedCalls: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
      expect(await bench().ledger.overview.usageOf('con_none')).toEqual(none);
    });
  });

  describe('the list of owners', () => {
    it('shows how much of each is remembered and waiting, newest first', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane)), added(b.tools, home(turn.lane))] });
      await store(b);
      b.tools.advance(SECOND);
      await store(b, { scope: scope({ agentId: 'helper' }) });
      const { results, nextCursor } = await b.ledger.overview.owners(TENANT, ALL);
      expect(results.map(({ owner, memories, pending }) => ({ owner, memories, pending }))).toEqual([
        { owner: { kind: 'agent', id: 'helper' }, memories: 0, pending: 1 },
        { owner: ANN, memories: 2, pending: 1 },
      ]);
      expect(nextCursor).toBeNull();
      expect(await b.ledger.overview.ownerCount(TENANT)).toBe(2);
    });

    it('comes page by page', async () => {
      const b = bench();
      for (const userId of ['ann', 'bob', 'cid']) {
        b.tools.advance(SECOND);
        await store(b, { scope: scope({ userId }) });
      }
      const first = await b.ledger.overview.owners(TENANT, { limit: 2, cursor: null });
      const second = await b.ledger.overview.owners(TENANT, { limit: 2, cursor: first.nextCursor });
      expect([...first.results, ...second.results].map(({ owner }) => owner)).toEqual(['cid', 'bob', 'ann'].map(user));
      expect(second.nextCursor).toBeNull();
      const nowhere = { limit: 2, cursor: 'no cursor at all' };
      await expect(b.ledger.overview.owners(TENANT, nowhere)).rejects.toThrow(InvalidCursorError);
    });
  });

  describe('the list of some owners', () => {
    const idsOf = async (b: Bench, asked: OwnersAsked, cursor: string | null = null) => {
      const { results, nextCursor } = await b.ledger.overview.owners(TENANT, { limit: 2, cursor }, asked);
      return { ids: results.map(({ owner }) => owner.id), nextCursor };
    };

    it('is of those whose ids begin as asked, of every kind and in any script', async () => {
      const b = bench();
      const last = '\u{10FFFF}';
      const ids = ['ann', 'anna', 'Ann', 'bob', '安娜', '安', '宀', '\uD7FF', '\uE000', last, `${last}x`];
      for (const userId of ids) await store(b, { scope: scope({ userId }) });
      await store(b, { scope: scope({ agentId: 'annex' }) });
      await store(b, { tenant: OTHER_TENANT, scope: scope({ userId: 'ann-elsewhere' }) });
      const beginning = async (idPrefix: string) => {
        const { results } = await b.ledger.overview.owners(TENANT, ALL, { idPrefix, order: 'created' });
        return results.map(({ owner }) => owner.id).sort();
      };
      expect(await beginning('ann')).toEqual(['ann', 'anna', 'annex']);
      expect(await beginning('A')).toEqual(['Ann']);
      expect(await beginning('安')).toEqual(['安', '安娜']);
      expect(await beginning('\uD7FF')).toEqual(['\uD7FF']);
      expect(await beginning(last)).toEqual([last, `${last}x`]);
      expect(await beginning('x')).toEqual([]);
    });

    it('begins with the last active ones where that is asked, page by page', async () => {
      const b = bench();
      for (const userId of ['ann', 'bob', 'cid', 'ann']) {
        b.tools.advance(SECOND);
        await store(b, { scope: scope({ userId }) });
      }
      const active = { idPrefix: '', order: 'updated' } as const;
      const first = await idsOf(b, active);
      expect(first.ids).toEqual(['ann', 'cid']);
      expect(await idsOf(b, active, first.nextCursor)).toEqual({ ids: ['bob'], nextCursor: null });
      expect((await idsOf(b, { idPrefix: '', order: 'created' })).ids).toEqual(['cid', 'bob']);
    });
  });

  describe('the oldest due work', () => {
    it('is the lane that has been due the longest', async () => {
      const b = bench();
      await store(b);
      b.tools.advance(SECOND);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const dueAt = b.tools.now() - SECOND + POLICY.idleMs;
      expect(await b.ledger.overview.oldestDue(dueAt - 1)).toBeNull();
      expect(await b.ledger.overview.oldestDue(dueAt + MINUTE)).toBe(dueAt);
    });

    it('is not one that waits for its next try', async () => {
      const b = bench();
      await store(b);
      const retry = expectKind(await fail(b, await nextTurn(b)), 'retry');
      expect(await b.ledger.overview.oldestDue(retry.at - 1)).toBeNull();
      expect(await b.ledger.overview.oldestDue(retry.at)).toBe(retry.at);
    });
  });

  describe('a shadow space', () => {
    const SPACE = spaceOf({ tenant: TENANT, replay: 'rpl_1' });

    it('is in no figure of the service or of its tenant', async () => {
      const b = bench();
      await store(b, { tenant: SPACE, flush: true });
      b.tools.advance(MINUTE);
      const { overview } = b.ledger;
      expect(await overview.backlog(null, 10)).toBe(0);
      expect(await overview.oldestDue(b.tools.now())).toBeNull();
      expect(await overview.ownerCount(TENANT)).toBe(0);
      expect((await overview.batches(TENANT)).accepted).toBe(0);
      expect((await overview.batches(SPACE)).accepted).toBe(1);
      expect(await b.ledger.lanes.due(b.tools.now(), 10), 'but it is worked on').toHaveLength(1);
    });

    it('counts what it asks of models to its tenant', async () => {
      const b = bench();
      await store(b, { tenant: SPACE, flush: true });
      const turn = await nextTurn(b, { tenant: SPACE });
      await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools), settledCall(b.tools, turn));
      const { calls, promptTokens } = await b.ledger.overview.usageOf(turn.consolidationId);
      expect(calls).toBe(1);
      expect(await b.ledger.overview.usage(TENANT)).toMatchObject({ calls: 1, promptTokens });
      const day = await b.ledger.overview.usageOfDay({ tenant: TENANT }, b.tools.now());
      expect(day).toMatchObject([{ calls: 1, promptTokens }]);
      expect(await b.ledger.overview.usageOfDay({ tenant: OTHER_TENANT }, b.tools.now())).toEqual([]);
    });
  });

  describe('a check', () => {
    it('passes while the ledger can be read and written', async () => {
      await expect(bench().ledger.check()).resolves.toBeUndefined();
    });
  });
}

import { type HowToGlance, usageStepOf } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, heldOperation, home, scope, sentCall, settledCall, user } from './builders.ts';
import {
  apply,
  type Bench,
  claimedBatch,
  fail,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  POLICY,
  project,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';
import { oneMemory } from './ledger-bench-webhooks.ts';
import { append } from './ledger-suite-receipts.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function describeGlance(bench: () => Bench): void {
  describe('a glance', () => {
    it('sees nothing in a new ledger', async () => {
      const b = bench();
      const how = lately(b);
      expect(await glance(b)).toEqual({
        open: { pending: 0, consolidating: 0, parked: 0 },
        ...{ accepted: [], acceptedSince: how.since, parked: [], delays: [], oldestDue: null, reviews: 0 },
        ...{ usage: [], answers: [], answersSince: how.since },
      });
    });

    it('counts batches by the hour in which they were accepted and what became of them', async () => {
      const b = bench();
      const start = await onTheHour(b);
      const { turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      await project(b);
      const { turn: nothing } = await claimedBatch(b);
      await apply(b, nothing);
      const { turn: broken } = await claimedBatch(b);
      await fail(b, broken, { retryable: false, code: 'model_rejected' });
      b.tools.set(start + HOUR);
      await store(b, { scope: scope({ userId: 'bob' }) });
      await store(b, { tenant: OTHER_TENANT });
      await nextTurn(b, { owner: user('bob') });
      await store(b, { scope: scope({ userId: 'bob' }) });
      const { open, accepted, acceptedSince, parked } = await glance(b);
      expect(open).toEqual({ pending: 1, consolidating: 1, parked: 1 });
      expect(inOrder(accepted)).toEqual(
        inOrder([
          ...['consolidated', 'empty', 'parked'].map((state) => ({ from: start, state, batches: 1 })),
          ...['consolidating', 'pending'].map((state) => ({ from: start + HOUR, state, batches: 1 })),
        ]),
      );
      expect(acceptedSince).toBe(lately(b).since);
      expect(parked).toEqual([{ code: 'model_rejected', batches: 1 }]);
      expect((await b.ledger.overview.glance(OTHER_TENANT, lately(b))).accepted).toHaveLength(1);
    });

    it('says from when on it counted all, where there are more than it counts', async () => {
      const b = bench();
      const start = await onTheHour(b);
      await store(b);
      b.tools.set(start + HOUR);
      for (const userId of ['bob', 'cid']) await store(b, { scope: scope({ userId }) });
      b.tools.set(start + 2 * HOUR);
      await store(b, { scope: scope({ userId: 'dan' }) });
      const { accepted, acceptedSince } = await glance(b, { entriesMax: 2 });
      expect(acceptedSince).toBe(start + 2 * HOUR);
      expect(accepted).toEqual([{ from: start + 2 * HOUR, state: 'pending', batches: 1 }]);
      const old = await glance(b, { since: start + HOUR });
      expect(old.open.pending).toBe(4);
      expect(old.accepted).toEqual([
        { from: start + HOUR, state: 'pending', batches: 2 },
        { from: start + 2 * HOUR, state: 'pending', batches: 1 },
      ]);
    });

    it('knows how long batches took to become searchable, but for backfill', async () => {
      const b = bench();
      for (const [wait, priority] of [
        [5 * SECOND, 'live'],
        [2 * SECOND, 'live'],
        [9 * SECOND, 'backfill'],
      ] as const) {
        const { turn, batch } = await claimedBatch(b, { priority });
        const accepted = (await b.ledger.batches.get(TENANT, batch.id))?.acceptedAt ?? 0;
        b.tools.set(Math.max(b.tools.now(), accepted + POLICY.idleMs) + wait);
        await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
        await project(b);
      }
      const { delays } = await glance(b);
      expect(delays).toEqual([2, 5].map((seconds) => POLICY.idleMs + seconds * SECOND));
    });

    it('finds the oldest due work of the tenant alone', async () => {
      const b = bench();
      await store(b, { tenant: OTHER_TENANT });
      b.tools.advance(SECOND);
      await store(b);
      const dueAt = b.tools.now() + POLICY.idleMs;
      expect((await glance(b)).oldestDue).toBeNull();
      b.tools.set(dueAt + MINUTE);
      expect((await glance(b)).oldestDue).toBe(dueAt);
    });

    it('counts operations that wait for a person', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn, { reviews: [heldOperation(b.tools), heldOperation(b.tools)] });
      expect((await glance(b)).reviews).toBe(2);
      expect((await glance(b, { entriesMax: 1 })).reviews).toBe(1);
      expect((await b.ledger.overview.glance(OTHER_TENANT, lately(b))).reviews).toBe(0);
    });

    it('adds up what models were asked by day and purpose, whichever part or try it was', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const at = b.tools.now();
      for (const step of ['extract', 'extract/1', 'decide:2', 'extract:unusable:1', 'of a later release'])
        await b.ledger.usage.settle([settledCall(b.tools, turn, { step: usageStepOf(step), at })]);
      const small = { usage: { promptTokens: 7, completionTokens: 1 }, at };
      await b.ledger.usage.note(sentCall(b.tools, turn, small));
      await b.ledger.usage.settle([settledCall(b.tools, turn, { ...small, step: 'summary' })]);
      const { usage } = await glance(b);
      const day = Math.floor(at / DAY);
      const answered = { failedCalls: 0, promptTokens: 100, cachedTokens: 0, completionTokens: 20 };
      const used = { day, model: 'scripted', calls: 1, ...answered, cost: 0.5 };
      expect(usage).toEqual([
        { ...used, step: 'decide' },
        { ...used, step: 'extract', calls: 4, failedCalls: 1, promptTokens: 307, completionTokens: 61, cost: 2 },
        { ...used, step: 'other' },
        { ...used, step: 'summary', promptTokens: 7, completionTokens: 1 },
      ]);
      expect((await glance(b, { fromDay: day + 1 })).usage).toEqual([]);
      expect((await b.ledger.overview.glance(OTHER_TENANT, lately(b))).usage).toEqual([]);
    });

    it('counts what was answered, as far back as it looks', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      await append(b, memory.lane, { route: 'recall' });
      const { at: second } = await append(b, memory.lane, { route: 'search' });
      for (const route of ['search', 'context'] as const) await append(b, memory.lane, { route });
      const { answers, answersSince } = await glance(b);
      expect(answers).toEqual([
        { route: 'context', answers: 1 },
        { route: 'recall', answers: 1 },
        { route: 'search', answers: 2 },
      ]);
      expect(answersSince).toBe(lately(b).since);
      const short = await glance(b, { rowsMax: 3 });
      expect(short.answers.map(({ answers }) => answers).reduce((sum, one) => sum + one, 0)).toBe(3);
      expect(short.answersSince).toBe(second);
      expect((await b.ledger.overview.glance(OTHER_TENANT, lately(b))).answers).toEqual([]);
    });
  });
}

/** The last day. */
function lately({ tools }: Bench): HowToGlance {
  const now = tools.now();
  const since = now - (now % HOUR) - DAY;
  return { now, since, everyMs: HOUR, fromDay: Math.floor(since / DAY), entriesMax: 1_000, rowsMax: 100 };
}

const glance = (b: Bench, how: Partial<HowToGlance> = {}) => b.ledger.overview.glance(TENANT, { ...lately(b), ...how });

/** The next full hour, from which the tests count. */
async function onTheHour({ tools }: Bench): Promise<number> {
  const start = Math.ceil(tools.now() / HOUR) * HOUR;
  tools.set(start);
  return start;
}

const inOrder = <T extends { readonly from: number; readonly state: string }>(stretches: readonly T[]): T[] =>
  stretches.toSorted((a, b) => a.from - b.from || a.state.localeCompare(b.state));

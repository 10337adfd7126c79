import type { DuePolicy, NewBatch } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { newBatch, newMessage } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  claim,
  expectKind,
  expectThere,
  laneOf,
  MINUTE,
  nextTurn,
  SECOND,
  TENANT,
} from './ledger-bench.ts';

const PACED: DuePolicy = { tokens: 1_000, idleMs: 15 * SECOND, paces: 3, maxAgeMs: 2 * MINUTE };
const HOUR = 60 * MINUTE;
/** Of whom nothing is known yet. */
const FIRST_PACE = 10 * SECOND;

/** How long is waited for owners to say more. */
export function describePace(bench: () => Bench): void {
  const post = async (given: Partial<NewBatch> = {}, policy = PACED) => {
    const b = bench();
    return expectKind(await b.ledger.batches.append(newBatch(b.tools, given), policy), 'stored').nudge;
  };
  const saying = (...roles: ('user' | 'assistant')[]) => ({
    messages: roles.map((role) => newMessage(bench().tools, { role })),
  });
  /** How long the lane still waits. */
  const left = async () => expectThere((await laneOf(bench())).dueAt) - bench().tools.now();
  /** What waits is consolidated at once. */
  const consolidated = async () => {
    const b = bench();
    await b.ledger.lanes.flush(TENANT, ANN, b.tools.now());
    return expectKind(await apply(b, await nextTurn(b), { policy: PACED }), 'applied').next;
  };
  /** One batch after each gap, each consolidated before the next comes; answers with how long the last one waits. */
  const waitAfter = async (gaps: readonly number[], given: () => Partial<NewBatch> = () => ({})) => {
    for (const gap of gaps) {
      if ((await bench().ledger.lanes.find(TENANT, ANN)) !== null) await consolidated();
      bench().tools.advance(gap);
      await post(given());
    }
    return left();
  };
  const times = (count: number, gap: number) => Array.from({ length: count }, () => gap);

  describe('the pace of an owner', () => {
    it('is guessed of whom nothing is known', async () => {
      expect(await waitAfter([0])).toBe(3 * FIRST_PACE);
    });

    it('goes towards each gap, and three of it are waited for', async () => {
      expect(await waitAfter([0, 8 * SECOND])).toBe(3 * 8 * SECOND);
      expect(await waitAfter([12 * SECOND])).toBe(3 * 12 * SECOND);
      expect(await waitAfter([60 * SECOND])).toBe(3 * 18 * SECOND);
      expect(await waitAfter([SECOND])).toBe(3 * 12 * SECOND);
    });

    it('outlives the process, and holds for what arrived while its lane was consolidating', async () => {
      await waitAfter([0, 14 * SECOND]);
      const b = bench();
      await b.ledger.lanes.flush(TENANT, ANN, b.tools.now());
      const turn = await nextTurn(b);
      await b.reopened();
      b.tools.advance(14 * SECOND);
      await post();
      const { next } = expectKind(await apply(bench(), turn, { policy: PACED }), 'applied');
      expect(next?.dueAt).toBe(b.tools.now() + 3 * 14 * SECOND);
      expect(await bench().ledger.lanes.withWork(null, 10)).toEqual([next]);
    });

    it('is left nearly as it was by a night', async () => {
      expect(await waitAfter([0, 12 * SECOND, 10 * HOUR])).toBe(3 * 18 * SECOND);
      expect(await waitAfter([12 * SECOND])).toBe(3 * 12 * SECOND);
    });

    it('of who posts within seconds makes nothing due before the least silence, and is soon another', async () => {
      expect(await waitAfter(times(20, 100))).toBe(PACED.idleMs);
      expect(await waitAfter(times(6, 10 * SECOND))).toBe(3 * 10 * SECOND);
    });

    it('of who posts so seldom that the next batch would come too late is not waited for, and is soon another', async () => {
      expect(await waitAfter(times(8, HOUR))).toBe(PACED.idleMs);
      expect(await waitAfter(times(1, 10 * SECOND))).toBe(PACED.maxAgeMs);
    });

    it('lets nothing wait longer than the oldest batch may', async () => {
      const start = bench().tools.now();
      for (let i = 0; i < 5; i += 1) {
        await post();
        bench().tools.advance(25 * SECOND);
      }
      expect(await laneOf(bench())).toMatchObject({ pending: 5, dueAt: start + PACED.maxAgeMs });
    });

    it('is not told by answers, nor by a clock that was ahead', async () => {
      const answer = () => saying('assistant');
      expect(await waitAfter([0, ...times(4, SECOND)], answer)).toBe(3 * FIRST_PACE);
      const right = bench().tools.now();
      await waitAfter([24 * HOUR], answer);
      bench().tools.set(right);
      expect(await waitAfter([SECOND])).toBe(3 * FIRST_PACE);
    });

    it('is neither told nor minded by imports', async () => {
      expect(await waitAfter(times(5, 10), () => ({ priority: 'backfill' }))).toBe(PACED.idleMs);
      bench().tools.advance(FIRST_PACE);
      await post();
      expect(await left()).toBe(3 * FIRST_PACE);
    });

    it('is forgotten with the owner', async () => {
      const b = bench();
      await waitAfter([0, 14 * SECOND]);
      await b.ledger.erasures.request(TENANT, ANN, { id: 'era_1', ownerHash: 'ann', now: b.tools.now() });
      await post();
      expect(await left()).toBe(3 * FIRST_PACE);
    });

    it('is nothing to a policy that names the silence', async () => {
      await waitAfter([0, 14 * SECOND]);
      await consolidated();
      await post({}, { ...PACED, paces: 0 });
      expect(await left()).toBe(PACED.idleMs);
    });
  });

  describe('a number of exchanges', () => {
    const policy = { ...PACED, exchanges: 3 };

    it('makes its lane due at once, however they were posted', async () => {
      await post(saying('user', 'assistant'), policy);
      await post(saying('user'), policy);
      await post(saying('assistant'), policy);
      expect(await left()).toBeGreaterThan(0);
      const nudge = await post(saying('user', 'assistant'), policy);
      expect(nudge?.dueAt).toBe(bench().tools.now());
    });

    it('is counted again of what a window has left', async () => {
      const b = bench();
      for (let i = 0; i < 5; i += 1) await post(saying('user', 'assistant'), policy);
      for (const [maxBatches, isDue] of [
        [1, true],
        [2, false],
      ] as const) {
        const [nudge] = await b.ledger.lanes.withWork(null, 1);
        const { turn } = expectKind(await claim(b, expectThere(nudge), { maxBatches }), 'claimed');
        const { next } = expectKind(await apply(b, turn, { policy }), 'applied');
        expect(expectThere(next).dueAt <= b.tools.now()).toBe(isDue);
      }
    });
  });
}

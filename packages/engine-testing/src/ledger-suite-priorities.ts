import { type LaneId, replayPriority } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { scope } from './builders.ts';
import {
  apply,
  type Bench,
  batchOf,
  claim,
  expectKind,
  expectThere,
  fail,
  MAX_ATTEMPTS,
  MINUTE,
  nextTurn,
  POLICY,
  replay,
  SECOND,
  store,
} from './ledger-bench.ts';

export function describePriorities(bench: () => Bench): void {
  describe('live and backfill', () => {
    const old = (given = {}) => store(bench(), { priority: 'backfill', ...given });
    const listed = async () => {
      const b = bench();
      const [due] = await b.ledger.lanes.due(b.tools.now() + MINUTE, 2);
      const [withWork] = await b.ledger.lanes.withWork(null, 2);
      expect(due).toEqual(withWork);
      return due?.priority;
    };

    it('a batch is what it was sent as', async () => {
      const b = bench();
      const [first, second] = [await old(), await store(b)];
      expect((await batchOf(b, first.batch.id)).priority).toBe('backfill');
      expect((await batchOf(b, second.batch.id)).priority).toBe('live');
    });

    it('a lane with nothing but backfill has a turn of backfill', async () => {
      expect((await old()).nudge?.priority).toBe('backfill');
      expect((await old()).nudge).toBeNull();
      expect(await listed()).toBe('backfill');
    });

    it('the first live batch among backfill makes its lane live, in the place and at the time it has', async () => {
      const b = bench();
      const first = await old({ flush: true });
      b.tools.advance(SECOND);
      const live = await store(b);
      expect(live.nudge).toMatchObject({ priority: 'live', generation: 2, dueAt: first.nudge?.dueAt });
      expect((await store(b)).nudge).toBeNull();
      expect(await claim(b, expectThere(first.nudge))).toEqual({ kind: 'stale' });
      const { turn } = expectKind(await claim(b, expectThere(live.nudge)), 'claimed');
      expect(turn.batchIds.slice(0, 2)).toEqual([first.batch.id, live.batch.id]);
    });

    it('backfill behind live batches leaves their lane live until those are done', async () => {
      const b = bench();
      await store(b);
      const behind = await old({ scope: scope({ userId: 'ann', runId: 'import' }) });
      expect(behind.nudge).toBeNull();
      expect(await listed()).toBe('live');
      const { next } = expectKind(await apply(b, await nextTurn(b)), 'applied');
      expect(next?.priority).toBe('backfill');
    });

    it('a live batch that comes while backfill is consolidated is live', async () => {
      const b = bench();
      await old();
      const turn = await nextTurn(b);
      expect(await listed()).toBe('backfill');
      expect((await store(b)).nudge).toBeNull();
      expect(await listed()).toBe('live');
      const { next } = expectKind(await apply(b, turn), 'applied');
      expect(next?.priority).toBe('live');
    });

    it('a window that is tried again stays what it was', async () => {
      const b = bench();
      await old();
      await fail(b, await nextTurn(b));
      expect(await listed()).toBe('backfill');
      const raised = await b.ledger.lanes.raise(expectThere((await b.ledger.lanes.withWork(null, 1))[0]));
      expect(raised?.priority).toBe('backfill');
    });

    it('a live window that is tried again stays live', async () => {
      const b = bench();
      await store(b);
      const turn = await nextTurn(b);
      await old();
      await fail(b, turn);
      expect(await listed()).toBe('live');
    });

    it('many parked batches that are replayed together are backfill, a few stay what they were', async () => {
      const b = bench();
      const many = Array.from({ length: 40 }, (_, i) => `u${i}`);
      const ids: string[] = [];
      for (const userId of many) ids.push(await parkedBatch(b, userId));
      const { nudges } = await replay(b, ids.slice(0, 2));
      expect(nudges.map((nudge) => nudge.priority)).toEqual(['live', 'live']);
      expect(replayPriority(38)).toBe('backfill');
      const rest = await replay(b, ids.slice(2));
      expect(new Set(rest.nudges.map((nudge) => nudge.priority))).toEqual(new Set(['backfill']));
      expect((await batchOf(b, ids[2] ?? '')).priority).toBe('backfill');
      expect((await batchOf(b, ids[0] ?? '')).priority).toBe('live');
    });

    it('a few parked batches among many that are named stay what they were', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann');
      const others = Array.from({ length: 40 }, (_, i) => `bat_unknown_${i}`);
      const { nudges } = await replay(b, [id, ...others]);
      expect(nudges.map((nudge) => nudge.priority)).toEqual(['live']);
      expect((await batchOf(b, id)).priority).toBe('live');
    });

    it('a replayed live batch makes a lane with waiting backfill live', async () => {
      const b = bench();
      const id = await parkedBatch(b, 'ann');
      const { nudge } = await old({ flush: true });
      const { nudges } = await replay(b, [id]);
      const generation = (expectThere(nudge).generation ?? 0) + 1;
      expect(nudges).toMatchObject([{ lane: nudge?.lane as LaneId, generation, priority: 'live' }]);
    });
  });
}

async function parkedBatch(b: Bench, userId: string): Promise<string> {
  const { batch, nudge } = await store(b, { scope: scope({ userId }), flush: true });
  const { turn } = expectKind(await claim(b, expectThere(nudge)), 'claimed');
  await b.ledger.lanes.fail(turn, {
    failure: { code: 'model_rejected', message: 'no', at: b.tools.now() },
    retryable: false,
    retryAt: b.tools.now(),
    maxAttempts: MAX_ATTEMPTS,
    policy: POLICY,
  });
  return batch.id;
}

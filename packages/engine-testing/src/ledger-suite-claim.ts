import type { LaneId } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { newMessage, scope, settings, storedAnswer } from './builders.ts';
import {
  ANN,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  expectThere,
  laneOf,
  nextTurn,
  POLICY,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeClaim(bench: () => Bench): void {
  describe('a claim', () => {
    it('pins the waiting batches to one consolidation', async () => {
      const b = bench();
      const first = await store(b);
      const second = await store(b, { metadata: { other: true } });
      const turn = await nextTurn(b);
      expect(turn).toMatchObject({ tenant: TENANT, owner: ANN, generation: 1, epoch: 1, attempts: 0, scope: scope() });
      expect(turn.settings).toEqual(settings());
      expect(turn.batchIds).toEqual([first.batch.id, second.batch.id]);
      expect(await batchOf(b, second.batch.id)).toMatchObject({
        state: 'consolidating',
        stage: 'extract',
        consolidationId: turn.consolidationId,
        claimedAt: b.tools.now(),
      });
      expect(await laneOf(b)).toMatchObject({ state: 'consolidating', epoch: 1, pending: 0 });
    });

    it.each([
      { of: 'a key for one app', from: 'a key for all', own: { ownAppOnly: true } as const },
      { of: 'categories of their own', from: 'others', own: { categories: ['Sport', "any 'thing'"] } },
    ])('takes batches of $of apart from those of $from', async ({ own }) => {
      const b = bench();
      const first = await store(b);
      const second = await store(b, { settings: { ...settings(), ...own } });
      const third = await store(b, { settings: { ...settings(), ...own } });
      const turn = await nextTurn(b);
      expect(turn.batchIds).toEqual([first.batch.id]);
      await apply(b, turn);
      const next = await nextTurn(b);
      expect(next.batchIds).toEqual([second.batch.id, third.batch.id]);
      expect(next.settings).toEqual({ ...settings(), ...own });
    });

    it('brings what the turn gathers, of a new window as of one that is pinned, where that is asked for', async () => {
      const b = bench();
      const said = async (content: string) => store(b, { messages: [newMessage(b.tools, { content })], flush: true });
      await said('earlier');
      await apply(b, await nextTurn(b));
      const { nudge } = await said('now');
      const job = expectThere(nudge);
      for (const epoch of [2, 3]) {
        const { turn, gathered } = expectKind(await claim(b, job, { recentCount: 10 }), 'claimed');
        expect(turn.epoch).toBe(epoch);
        expect(expectThere(gathered)).toEqual(await b.ledger.thoughts.gather(turn, 10));
        expect(gathered).toMatchObject({ messages: [{ content: 'now' }], recent: [{ content: 'earlier' }] });
        await b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools));
      }
      expect(expectKind(await claim(b, job, { recentCount: 10 }), 'claimed').gathered?.thought.answers).toHaveLength(1);
      expect(expectKind(await claim(b, job), 'claimed').gathered).toBeNull();
    });

    it('is too early before the lane is due', async () => {
      const b = bench();
      const nudge = expectThere((await store(b)).nudge);
      expect(await claim(b, nudge)).toEqual({ kind: 'not_due', dueAt: nudge.dueAt });
      expect((await laneOf(b)).epoch).toBe(0);
    });

    it('is stale for another generation, an idle lane or no lane', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { lane, generation } = turn;
      expect(await claim(b, { lane, generation: generation - 1 })).toEqual({ kind: 'stale' });
      expect(await claim(b, { lane, generation: generation + 1 })).toEqual({ kind: 'stale' });
      expect(await claim(b, { lane: 'lane_none' as LaneId, generation: 1 })).toEqual({ kind: 'stale' });
      await apply(b, turn);
      expect(await claim(b, { lane, generation })).toEqual({ kind: 'stale' });
    });

    it('of the generation before a flush is stale', async () => {
      const b = bench();
      const early = expectThere((await store(b)).nudge);
      b.tools.advance(SECOND);
      const late = expectThere((await store(b, { flush: true })).nudge);
      expect(await claim(b, early)).toEqual({ kind: 'stale' });
      expect((await claim(b, late)).kind).toBe('claimed');
    });

    it('resumes a consolidation with the same window under a new epoch', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await store(b);
      b.tools.advance(SECOND);
      const again = expectKind(await claim(b, turn), 'claimed').turn;
      expect(again).toEqual({ ...turn, epoch: turn.epoch + 1, resumed: true });
    });

    it('gives every one of several claimers an epoch of its own', async () => {
      const b = bench();
      const nudge = expectThere((await store(b, { flush: true })).nudge);
      const claims = await Promise.all([1, 2, 3].map(() => claim(b, nudge)));
      const turns = claims.map((answer) => expectKind(answer, 'claimed').turn);
      expect(turns.map((turn) => turn.epoch).sort()).toEqual([1, 2, 3]);
      expect(new Set(turns.map((turn) => turn.consolidationId)).size).toBe(1);
    });

    it('survives the ledger being closed and opened again', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const later = await b.reopened();
      const answer = await claim({ ...b, ledger: later }, turn);
      expect(expectKind(answer, 'claimed').turn).toEqual({ ...turn, epoch: 2, resumed: true });
    });
  });

  describe('the window of a claim', () => {
    it('ends where scope or settings change, and the rest is the next generation', async () => {
      const b = bench();
      const a = await store(b);
      const inRun = await store(b, { scope: scope({ userId: 'ann', runId: 'r1' }) });
      const guided = await store(b, {
        scope: scope({ userId: 'ann', runId: 'r1' }),
        settings: settings({ instructions: 'only food' }),
      });
      const last = await store(b, { flush: true });
      const windows: (readonly string[])[] = [];
      for (let i = 0; i < 4; i += 1) {
        const turn = await nextTurn(b);
        windows.push(turn.batchIds);
        await apply(b, turn);
      }
      expect(windows).toEqual([a, inRun, guided, last].map(({ batch }) => [batch.id]));
      expect(await laneOf(b)).toMatchObject({ state: 'idle', generation: 5, dueAt: null });
    });

    it('keeps within the limits of batches and tokens', async () => {
      const b = bench();
      for (let i = 0; i < 5; i += 1) await store(b, { tokens: 10 });
      const nudge = expectThere((await store(b, { tokens: 10, flush: true })).nudge);
      const few = expectKind(await claim(b, nudge, { maxBatches: 2 }), 'claimed').turn;
      expect(few.batchIds.length).toBe(2);
      const next = expectThere(expectKind(await apply(b, few), 'applied').next);
      const light = expectKind(await claim(b, next, { maxTokens: 30 }), 'claimed').turn;
      expect(light.batchIds.length).toBe(3);
    });

    it('takes at least one batch, however large', async () => {
      const b = bench();
      const nudge = expectThere((await store(b, { tokens: POLICY.tokens * 9, flush: true })).nudge);
      await store(b);
      const { turn } = expectKind(await claim(b, nudge, { maxTokens: 5, maxBatches: 1 }), 'claimed');
      expect(turn.batchIds.length).toBe(1);
    });
  });
}

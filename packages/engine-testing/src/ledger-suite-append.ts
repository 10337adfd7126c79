import { describe, expect, it } from 'vitest';
import { newBatch, newMessage, newNudge, scope, user } from './builders.ts';
import {
  append,
  apply,
  type Bench,
  batchOf,
  claimedBatch,
  expectKind,
  laneOf,
  MINUTE,
  nextTurn,
  POLICY,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeAppend(bench: () => Bench): void {
  describe('a batch that arrives', () => {
    it('is stored as pending, with everything that was sent', async () => {
      const b = bench();
      const { batch } = await store(b, { metadata: { chat: 'c1', tags: ['a', 'ü'] } });
      expect(await batchOf(b, batch.id)).toEqual({
        id: batch.id,
        tenant: TENANT,
        lane: (await laneOf(b)).id,
        scope: scope(),
        settings: batch.settings,
        metadata: { chat: 'c1', tags: ['a', 'ü'] },
        position: 1,
        priority: 'live',
        state: 'pending',
        stage: 'waiting',
        attempts: 0,
        failure: null,
        failures: [],
        consolidationId: null,
        messageCount: 1,
        acceptedAt: batch.acceptedAt,
        claimedAt: null,
        appliedAt: null,
        searchableAt: null,
      });
    });

    it('keeps what the clock of each speaker showed, as far as that is known', async () => {
      const b = bench();
      const clock = { at: b.tools.now() - SECOND, offset: 540 };
      const messages = [newMessage(b.tools, { at: clock.at, clock }), newMessage(b.tools, { at: clock.at })];
      await store(b, { messages });
      const turn = await nextTurn(b);
      const [dated, undated] = (await b.ledger.thoughts.gather(turn, 10)).messages;
      expect(dated).toMatchObject({ saidAt: { at: clock.at }, clock });
      expect(undated).not.toHaveProperty('clock');
      const { pending } = await b.ledger.present.conversation(TENANT, scope(), { messages: 10, longest: 1_000 });
      expect(pending.map((message) => message.clock)).toEqual([clock, undefined]);
    });

    it('keeps how each message was marked', async () => {
      const b = bench();
      const marked = newMessage(b.tools, { trust: 'external' });
      await store(b, { messages: [marked, newMessage(b.tools, { role: 'tool', trust: 'tool' }), newMessage(b.tools)] });
      const { messages } = await b.ledger.thoughts.gather(await nextTurn(b), 10);
      expect(messages.map(({ trust }) => trust)).toEqual(['external', 'tool', undefined]);
    });

    it('is not said before what its lane took, although the clock was set back by a day in between', async () => {
      const b = bench();
      const right = b.tools.now();
      b.tools.advance(24 * 60 * MINUTE);
      await store(b);
      b.tools.set(right + SECOND);
      await store(b);
      await store(b, { messages: [newMessage(b.tools, { at: right })] });
      await store(b, { messages: [newMessage(b.tools, { at: right - 24 * 60 * MINUTE })] });
      b.tools.advance(48 * 60 * MINUTE);
      const { messages } = await b.ledger.thoughts.gather(await nextTurn(b), 10);
      const [first, second, third, longAgo] = messages.map(({ saidAt }) => saidAt);
      expect(second?.at).toBe(first?.at);
      expect(third?.at).toBe(first?.at);
      expect(messages.slice(1, 3).map(({ clock }) => clock?.at)).toEqual([right + SECOND, right]);
      expect(longAgo?.at).toBe(right - 24 * 60 * MINUTE);
    });

    it('survives the ledger being closed and opened again', async () => {
      const b = bench();
      const { batch } = await store(b);
      const later = await b.reopened();
      expect(later.id).toBe(b.ledger.id);
      expect((await later.batches.get(TENANT, batch.id))?.state).toBe('pending');
      expect((await later.lanes.withWork(null, 10)).length).toBe(1);
    });

    it('nudges an idle lane, due once the lane has been idle', async () => {
      const b = bench();
      const { batch, nudge } = await store(b);
      const lane = await laneOf(b);
      expect(nudge).toEqual(newNudge(lane.id, { dueAt: batch.acceptedAt + POLICY.idleMs }));
      expect(lane).toMatchObject({
        state: 'waiting',
        generation: 1,
        epoch: 0,
        pending: 1,
        attempts: 0,
        owner: user('ann'),
      });
    });

    it('puts off a waiting lane without a nudge', async () => {
      const b = bench();
      await store(b);
      b.tools.advance(30 * SECOND);
      expect((await store(b)).nudge).toBeNull();
      expect(await laneOf(b)).toMatchObject({ generation: 1, pending: 2, dueAt: b.tools.now() + POLICY.idleMs });
    });

    it('never puts a lane off beyond the greatest age of its oldest batch', async () => {
      const b = bench();
      const start = b.tools.now();
      for (let i = 0; i < 12; i += 1) {
        await store(b);
        b.tools.advance(55 * SECOND);
      }
      expect((await laneOf(b)).dueAt).toBe(start + POLICY.maxAgeMs);
    });

    it('makes its lane due at once when it fills the window of tokens', async () => {
      const b = bench();
      await store(b, { tokens: POLICY.tokens - 1 });
      b.tools.advance(SECOND);
      const full = await store(b, { tokens: 1 });
      expect(full.nudge).toMatchObject({ generation: 2, dueAt: b.tools.now() });
      b.tools.advance(SECOND);
      expect((await store(b)).nudge).toBeNull();
      expect((await laneOf(b)).dueAt).toBe(b.tools.now() - SECOND);
    });

    it('makes its lane due at once when it is flushed, and keeps it so', async () => {
      const b = bench();
      expect((await store(b, { flush: true })).nudge).toMatchObject({ generation: 1, dueAt: b.tools.now() });
      b.tools.advance(SECOND);
      expect((await store(b)).nudge).toBeNull();
      expect((await laneOf(b)).dueAt).toBe(b.tools.now() - SECOND);
    });

    it('raises the generation of a waiting lane that it makes due earlier', async () => {
      const b = bench();
      const first = await store(b);
      b.tools.advance(SECOND);
      const { nudge } = await store(b, { flush: true });
      expect(nudge).toMatchObject({ generation: 2, dueAt: b.tools.now() });
      expect(first.nudge?.generation).toBe(1);
    });

    it('only joins the line while its lane is consolidating', async () => {
      const b = bench();
      await claimedBatch(b);
      const before = await laneOf(b);
      expect((await store(b, { flush: true })).nudge).toBeNull();
      expect(await laneOf(b)).toEqual({ ...before, pending: 1, lastMessage: before.lastMessage + 1 });
    });
  });

  describe('the order of a lane', () => {
    it('has positions without gaps, whoever appends at the same time', async () => {
      const b = bench();
      const batches = Array.from({ length: 20 }, () => newBatch(b.tools));
      await Promise.all(batches.map((batch) => append(b, batch)));
      const positions = await Promise.all(batches.map(async ({ id }) => (await batchOf(b, id)).position));
      expect(positions.sort((a, c) => a - c)).toEqual(batches.map((_, i) => i + 1));
    });

    it('is one line per owner, whatever the other ids', async () => {
      const b = bench();
      const withAgent = await store(b, { scope: scope({ userId: 'ann', agentId: 'helper' }) });
      const alone = await store(b);
      const other = await store(b, { scope: scope({ agentId: 'helper' }) });
      const lanes = await Promise.all(
        [withAgent, alone, other].map(async ({ batch }) => (await batchOf(b, batch.id)).lane),
      );
      expect(lanes[0]).toBe(lanes[1]);
      expect(lanes[2]).not.toBe(lanes[0]);
    });

    it('goes by timestamps, else by acceptance, then by arrival', async () => {
      const b = bench();
      const start = b.tools.now();
      const messages = [newMessage(b.tools, { at: start - MINUTE }), newMessage(b.tools)];
      await store(b, { messages });
      b.tools.advance(SECOND);
      await store(b, { messages: [newMessage(b.tools)] });
      const gathered = await b.ledger.thoughts.gather(await nextTurn(b), 0);
      expect(gathered.messages.map((message) => message.saidAt)).toEqual([
        { at: start - MINUTE, seq: 1 },
        { at: start, seq: 2 },
        { at: start + SECOND, seq: 3 },
      ]);
    });

    it('marks a message as resent when its scope had one with the same id of the caller', async () => {
      const b = bench();
      const sent = (clientId: string | null) => newMessage(b.tools, { clientId });
      await store(b, { messages: [sent('m1'), sent('m2'), sent('m1'), sent(null), sent(null)] });
      await store(b, { messages: [sent('m2'), sent('m3')] });
      const gathered = await b.ledger.thoughts.gather(await nextTurn(b), 0);
      expect(gathered.messages.map((message) => message.resent)).toEqual([
        false,
        false,
        true,
        false,
        false,
        true,
        false,
      ]);
    });

    it('does not take a message of another scope of the owner for a resent one', async () => {
      const b = bench();
      await store(b, { messages: [newMessage(b.tools, { clientId: 'm1' })] });
      const inRun = scope({ userId: 'ann', runId: 'r1' });
      await store(b, { scope: inRun, messages: [newMessage(b.tools, { clientId: 'm1' })] });
      await apply(b, await nextTurn(b));
      const second = await nextTurn(b);
      const gathered = await b.ledger.thoughts.gather(second, 0);
      expect(second.scope).toEqual(inRun);
      expect(gathered.messages.map((message) => message.resent)).toEqual([false]);
    });
  });

  describe('an idempotency key', () => {
    const idempotency = { key: 'k1', bodyHash: 'h1' };

    it('answers a repeated body with the first batch and its state', async () => {
      const b = bench();
      const { batch } = await store(b, { idempotency });
      await nextTurn(b);
      const again = await append(b, newBatch(b.tools, { idempotency }));
      expect(again).toEqual({ kind: 'repeated', batchId: batch.id, state: 'consolidating' });
      expect((await b.ledger.overview.batches(TENANT)).accepted).toBe(1);
    });

    it('refuses another body', async () => {
      const b = bench();
      await store(b, { idempotency });
      const other = newBatch(b.tools, { idempotency: { key: 'k1', bodyHash: 'h2' } });
      expect(await append(b, other)).toEqual({ kind: 'conflict' });
      expect(await b.ledger.batches.get(TENANT, other.id)).toBeNull();
    });

    it('answers batches that arrive at the same time one by one', async () => {
      const b = bench();
      const keyed = (key: string, bodyHash: string) => newBatch(b.tools, { idempotency: { key, bodyHash } });
      const batches = [keyed('k1', 'h1'), keyed('k1', 'h2'), newBatch(b.tools), keyed('k1', 'h1'), keyed('k2', 'h2')];
      const answers = await Promise.all(batches.map((batch) => append(b, batch)));
      expect(answers.map((answer) => answer.kind)).toEqual(['stored', 'conflict', 'stored', 'repeated', 'stored']);
      expect(expectKind(answers[3] ?? { kind: 'conflict' }, 'repeated').batchId).toBe(batches[0]?.id);
      expect((await laneOf(b)).pending).toBe(3);
    });
  });
}

import { DEFAULT_SETTINGS, type LaneId, liveVersion, roundedVector, type Turn } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, home, newMessage, newPlan, scope, sentCall, settledCall, storedAnswer, user } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  applyOnly,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  expectThere,
  fail,
  laneOf,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

export function describeThoughts(bench: () => Bench): void {
  describe('what a consolidation reads', () => {
    it('is the messages of its batches in the order of the lane, as they were sent', async () => {
      const b = bench();
      const parts = [
        { type: 'text', text: '看这个' } as const,
        { type: 'image_url', image_url: { url: 'data:x' } } as const,
      ];
      const sent = [
        newMessage(b.tools, { role: 'assistant', content: 'Where do you live?', name: 'Helper' }),
        newMessage(b.tools, { content: parts, clientId: 'c1' }),
      ];
      const first = await store(b, { messages: sent, metadata: { n: 1 } });
      const second = await store(b, { metadata: { n: 2 } });
      const turn = await nextTurn(b);
      const gathered = await b.ledger.thoughts.gather(turn, 10);
      expect(gathered.messages.slice(0, 2)).toEqual(
        sent.map(({ at, ...message }, i) => ({
          ...message,
          batchId: first.batch.id,
          saidAt: { at: first.batch.acceptedAt, seq: i + 1 },
          resent: false,
        })),
      );
      expect(gathered.messages[2]?.batchId).toBe(second.batch.id);
      expect(gathered.metadata).toEqual(
        new Map([
          [first.batch.id, { n: 1 }],
          [second.batch.id, { n: 2 }],
        ]),
      );
      expect(gathered.summary).toBeNull();
      expect(gathered.recent).toEqual([]);
    });

    it('is also what holds for its tenant, chosen by it and set by the operator', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await b.ledger.settings.put(OTHER_TENANT, { ...DEFAULT_SETTINGS, graph: true });
      await b.ledger.settings.putCeilings(OTHER_TENANT, { tokensPerDay: 1, costPerDay: 1 });
      expect(await b.ledger.thoughts.gather(turn, 0)).toMatchObject({ rules: DEFAULT_SETTINGS, ceilings: null });
      await b.ledger.settings.put(TENANT, { ...DEFAULT_SETTINGS, graph: true });
      await b.ledger.settings.putCeilings(TENANT, { tokensPerDay: null, costPerDay: 2.5 });
      const gathered = await b.ledger.thoughts.gather(turn, 0);
      expect(gathered.rules).toEqual({ ...DEFAULT_SETTINGS, graph: true });
      expect(gathered.ceilings).toEqual({ tokensPerDay: null, costPerDay: 2.5 });
    });

    it('is also the last consolidated messages of its scope, oldest first', async () => {
      const b = bench();
      const say = (content: string, runId: string | null = null) =>
        store(b, { scope: scope({ userId: 'ann', runId }), messages: [newMessage(b.tools, { content })] });
      for (const text of ['one', 'two', 'three']) await say(text);
      await apply(b, await nextTurn(b));
      await say('elsewhere', 'r1');
      await apply(b, await nextTurn(b));
      await say('parked');
      await fail(b, await nextTurn(b), { retryable: false });
      await say('now');
      const turn = await nextTurn(b);
      await say('later');
      const recent = async (count: number) =>
        (await b.ledger.thoughts.gather(turn, count)).recent.map((message) => message.content);
      expect(await recent(2)).toEqual(['two', 'three']);
      expect(await recent(10)).toEqual(['one', 'two', 'three']);
      expect(await recent(0)).toEqual([]);
    });

    it('is the same for a batch that is not claimed: what its scope has said, up to now', async () => {
      const b = bench();
      await store(b, { messages: [newMessage(b.tools, { content: 'one' })] });
      const turn = await nextTurn(b);
      const context = () => b.ledger.thoughts.context(turn.lane, scope(), 10);
      expect(await context()).toEqual({ summary: null, summaryTrust: null, recent: [] });
      await apply(b, turn);
      await store(b, { messages: [newMessage(b.tools, { content: 'waits' })] });
      expect((await context()).recent.map((message) => message.content)).toEqual(['one']);
      const elsewhere = scope({ userId: 'ann', runId: 'r1' });
      const nothing = { summary: null, summaryTrust: null, recent: [] };
      expect(await b.ledger.thoughts.context(turn.lane, elsewhere, 10)).toEqual(nothing);
    });

    it('has each message once, however often it was sent', async () => {
      const b = bench();
      const say = (...texts: string[]) =>
        store(b, { messages: texts.map((content) => newMessage(b.tools, { content, clientId: content })) });
      await say('one');
      await apply(b, await nextTurn(b));
      await say('one', 'two');
      await apply(b, await nextTurn(b));
      await say('one', 'two', 'three');
      const gathered = await b.ledger.thoughts.gather(await nextTurn(b), 10);
      expect(gathered.recent.map((message) => message.content)).toEqual(['one', 'two']);
      expect(gathered.messages.map((message) => message.resent)).toEqual([true, true, false]);
    });
  });

  describe('a model answer', () => {
    it('is there for whoever asks the same again', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const answer = storedAnswer(b.tools, { truncated: true });
      expect(await b.ledger.thoughts.storeAnswer(turn, answer)).toEqual({ kind: 'stored' });
      expect(await b.ledger.thoughts.answer(turn.consolidationId, 'extract', 'input-1')).toEqual(answer);
      expect(await b.ledger.thoughts.answer(turn.consolidationId, 'extract', 'input-2')).toBeNull();
      expect(await b.ledger.thoughts.answer(turn.consolidationId, 'decide', 'input-1')).toBeNull();
      expect((await batchOf(b, batch.id)).stage).toBe('decide');
    });

    it('is never replaced, and each call for it counts once', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const first = storedAnswer(b.tools, {
        text: 'first',
        usage: { promptTokens: 9, cachedTokens: 4, completionTokens: 1 },
      });
      const call = settledCall(b.tools, turn);
      for (const _ of [1, 2]) await b.ledger.thoughts.storeAnswer(turn, first, call);
      expect((await b.ledger.overview.usageOf(turn.consolidationId)).calls).toBe(1);
      const second = b.ledger.thoughts.storeAnswer(turn, { ...first, text: 'second' }, settledCall(b.tools, turn));
      expect(await second).toEqual({ kind: 'stored' });
      expect(await b.ledger.thoughts.answers(turn.consolidationId)).toEqual([first]);
      expect((await b.ledger.overview.usageOf(turn.consolidationId)).calls).toBe(2);
    });

    it('is listed with the others in the order they came', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const answers = ['extract', 'repair_extract', 'decide'].map((step) => storedAnswer(b.tools, { step }));
      for (const answer of answers) await b.ledger.thoughts.storeAnswer(turn, answer);
      expect(await b.ledger.thoughts.answers(turn.consolidationId)).toEqual(answers);
    });

    it('of a worker that lost its lane is kept for whoever has it now: it was paid for', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const asked = { inputHash: 'input-1', steps: ['extract', 'extract:unusable:0'] };
      const look = (of: Turn, about = asked, call = sentCall(b.tools, of)) =>
        b.ledger.thoughts.lastLook(of, about, call);
      const sent = sentCall(b.tools, turn);
      expect(await look(turn, asked, sent)).toEqual({ holds: true, answer: null, isNoted: true });
      const now = await claim(b, turn);
      expect(await look(turn)).toEqual({ holds: false, answer: null, isNoted: false });
      const answer = storedAnswer(b.tools);
      const { thoughts, overview } = b.ledger;
      const call = settledCall(b.tools, turn, { id: sent.id, noted: sent });
      expect(await thoughts.storeAnswer(turn, answer, call)).toEqual({ kind: 'fenced' });
      expect(await thoughts.storeAnswer(turn, { ...answer, text: 'again' }, call)).toEqual({ kind: 'fenced' });
      expect(await thoughts.answers(turn.consolidationId)).toEqual([answer]);
      expect(await overview.usage(TENANT), 'nobody was asked without its lane').toMatchObject({
        ...{ calls: 1, failedCalls: 0, promptTokens: 100 },
      });
      if (now.kind !== 'claimed') return expect.unreachable('the lane is due');
      expect(await look(now.turn)).toEqual({ holds: true, answer, isNoted: false });
      expect((await overview.usage(TENANT)).calls, 'nor where there is an answer').toBe(1);
      expect(await look(now.turn, { ...asked, inputHash: 'input-2' })).toMatchObject({ answer: null });
      expect(await look(now.turn, { ...asked, steps: ['decide'] })).toMatchObject({ answer: null });
      expect(await overview.usage(TENANT)).toMatchObject({ calls: 3, failedCalls: 2, promptTokens: 114 });
    });

    it('that is stored while the next one looks is told or comes too late, and what it used is counted either way', async () => {
      const b = bench();
      const { thoughts, overview } = b.ledger;
      const { turn } = await claimedBatch(b);
      const again = expectKind(await claim(b, turn), 'claimed').turn;
      for (let round = 0; round < 10; round += 1) {
        const inputHash = `input-${round}`;
        const answer = storedAnswer(b.tools, { inputHash });
        const [look] = await Promise.all([
          thoughts.lastLook(again, { inputHash, steps: [answer.step] }, sentCall(b.tools, again)),
          thoughts.storeAnswer(turn, answer, settledCall(b.tools, turn)),
        ]);
        expect(look.holds).toBe(true);
        expect([null, answer]).toContainEqual(look.answer);
        expect(await thoughts.answer(turn.consolidationId, answer.step, inputHash)).toEqual(answer);
      }
      const { calls, failedCalls } = await overview.usage(TENANT);
      expect(calls - failedCalls).toBe(10);
    });

    it('that comes after its consolidation is over, is kept for nobody, and was paid for all the same', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await apply(b, turn);
      const late = b.ledger.thoughts.storeAnswer(turn, storedAnswer(b.tools), settledCall(b.tools, turn));
      expect(await late).toEqual({ kind: 'fenced' });
      expect(await b.ledger.thoughts.answers(turn.consolidationId)).toEqual([]);
      expect((await b.ledger.overview.usage(TENANT)).calls).toBe(1);
    });

    it('outlives failed tries, new claims and a restart', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const answer = storedAnswer(b.tools);
      await b.ledger.thoughts.storeAnswer(turn, answer);
      await fail(b, turn);
      const again = await nextTurn(b);
      const later = await b.reopened();
      expect(await later.thoughts.answer(again.consolidationId, 'extract', 'input-1')).toEqual(answer);
    });
  });

  describe('a plan', () => {
    it('is stored whole, and marks its consolidation as planned', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const plan = newPlan(turn, { remarks: [{ asked: 'DELETE 9', did: 'nothing: there is no 9' }] });
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toBeNull();
      expect(await b.ledger.thoughts.storePlan(turn, plan)).toEqual({ kind: 'stored' });
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toEqual(plan);
      expect((await b.ledger.thoughts.get(TENANT, turn.consolidationId))?.state).toBe('planned');
      expect((await batchOf(b, batch.id)).stage).toBe('apply');
    });

    it('of a later round takes the place of an earlier one', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      for (const round of [1, 2]) await b.ledger.thoughts.storePlan(turn, newPlan(turn, { round }));
      expect((await b.ledger.thoughts.plan(turn.consolidationId))?.round).toBe(2);
    });

    it('of a worker that lost its lane is not stored', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await claim(b, turn);
      expect(await b.ledger.thoughts.storePlan(turn, newPlan(turn))).toEqual({ kind: 'fenced' });
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toBeNull();
    });

    it('is stored with what it changes, after those that were overtaken, and shows what events say', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const known = added(b.tools, home((await laneOf(b)).id), { text: 'Has a cat named Miso' });
      await write(b, known);
      const { text, saidAt } = expectThere(liveVersion(known.memory));
      const shown = { version: 1, standing: 'live', immutable: false, recalledBy: [], text, saidAt } as const;
      const candidates = [
        { ...shown, shortId: '0', memoryId: known.memory.id, revision: 1 },
        { ...shown, shortId: '1', memoryId: 'mem_elsewhere', revision: 4, text: 'Said "half \ud83d"' },
      ];
      await b.ledger.thoughts.storePlan(turn, newPlan(turn, { round: 1 }));
      const plan = newPlan(turn, { round: 2, candidates });
      expectKind(await apply(b, turn, { plan }), 'applied');
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toEqual(plan);
    });

    it('that is overtaken, or whose worker lost its lane, is not stored when it is carried out', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const made = added(b.tools, home((await laneOf(b)).id));
      const stale = { ...made, expectedRevision: 7 };
      const plan = newPlan(turn);
      expectKind(await applyOnly(b, turn, { plan, changes: [stale] }), 'conflict');
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toBeNull();
      await claim(b, turn);
      expectKind(await applyOnly(b, turn, { plan }), 'fenced');
      expect(await b.ledger.thoughts.plan(turn.consolidationId)).toBeNull();
    });

    it('is found again by the next try, and by a restarted worker', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      await b.ledger.thoughts.storePlan(turn, newPlan(turn));
      await fail(b, turn);
      await nextTurn(b);
      const later = await b.reopened();
      expect(await later.thoughts.plan(turn.consolidationId)).toEqual(newPlan(turn));
      expect((await later.thoughts.get(TENANT, turn.consolidationId))?.state).toBe('planned');
    });
  });

  describe('consolidations', () => {
    it('are listed newest first, by state and user, page by page', async () => {
      const b = bench();
      const { turn: first } = await claimedBatch(b);
      expectKind(await apply(b, first), 'applied');
      b.tools.advance(SECOND);
      const { turn: second } = await claimedBatch(b);
      b.tools.advance(SECOND);
      await store(b, { scope: scope({ userId: 'bob' }) });
      const third = await nextTurn(b, { owner: user('bob') });
      const idsOf = async (filter: Parameters<typeof b.ledger.thoughts.list>[1]) =>
        (await b.ledger.thoughts.list(TENANT, filter, ALL)).results.map((row) => row.id);
      expect(await idsOf({})).toEqual([third, second, first].map((turn) => turn.consolidationId));
      expect(await idsOf({ state: 'applied' })).toEqual([first.consolidationId]);
      expect(await idsOf({ userId: 'bob' })).toEqual([third.consolidationId]);
      const page = await b.ledger.thoughts.list(TENANT, {}, { limit: 1, cursor: null });
      const next = await b.ledger.thoughts.list(TENANT, {}, { limit: 2, cursor: page.nextCursor });
      expect(next.results.map((row) => row.id)).toEqual([second.consolidationId, first.consolidationId]);
      expect(next.nextCursor).toBeNull();
    });

    it('show what they are about and how they ended', async () => {
      const b = bench();
      const { batch, turn } = await claimedBatch(b);
      const createdAt = b.tools.now();
      b.tools.advance(SECOND);
      await apply(b, turn);
      expect(await b.ledger.thoughts.get(TENANT, turn.consolidationId)).toEqual({
        id: turn.consolidationId,
        tenant: TENANT,
        variant: null,
        lane: turn.lane,
        scope: scope(),
        state: 'applied',
        batchIds: [batch.id],
        attempts: 0,
        failure: null,
        createdAt,
        appliedAt: b.tools.now(),
      });
    });
  });

  describe('vectors', () => {
    it('are kept per lane and vector space', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const vector = roundedVector(Float32Array.of(0.6, -0.8, 0));
      await b.ledger.thoughts.storeVectors(lane, 'fake-3', new Map([['a1', vector]]));
      const found = await b.ledger.thoughts.vectors(lane, 'fake-3', ['a1', 'a2']);
      expect([...found]).toEqual([['a1', vector]]);
      expect((await b.ledger.thoughts.vectors(lane, 'fake-4', ['a1'])).size).toBe(0);
      expect((await b.ledger.thoughts.vectors('lane_none' as LaneId, 'fake-3', ['a1'])).size).toBe(0);
    });

    it('are none of a text that the model refuses: that is kept as well, and counted for its vector space', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const other = await b.ledger.memories.laneOf(TENANT, { kind: 'user', id: 'bob' }, b.tools.now());
      const vectors = new Map([
        ['600d', new Float32Array([0, 0])],
        ['bad0', null],
      ]);
      expect(await b.ledger.thoughts.refusedTexts('fake-2')).toBe(0);
      await b.ledger.thoughts.storeVectors(lane, 'fake-2', vectors);
      await b.ledger.thoughts.storeVectors(lane, 'fake-2', vectors);
      await b.ledger.thoughts.storeVectors(other, 'fake-2', new Map([['bad0', null]]));
      expect(await b.ledger.thoughts.vectors(lane, 'fake-2', ['600d', 'bad0', 'e1'])).toEqual(vectors);
      expect(await b.ledger.thoughts.refusedTexts('fake-2')).toBe(2);
      expect(await b.ledger.thoughts.refusedTexts('fake-3')).toBe(0);
    });

    it('of one space are dropped, some lanes at a time', async () => {
      const b = bench();
      const { thoughts } = b.ledger;
      const lanes: LaneId[] = [];
      for (const id of ['ann', 'bob', 'eve'])
        lanes.push(await b.ledger.memories.laneOf(TENANT, { kind: 'user', id }, b.tools.now()));
      const vectors = new Map([['a1', roundedVector(Float32Array.of(1, 0))]]);
      for (const lane of lanes) for (const space of ['old', 'new']) await thoughts.storeVectors(lane, space, vectors);
      let [after, calls]: [LaneId | null, number] = [null, 0];
      do {
        after = await thoughts.dropVectors('old', { after, limit: 2 });
        calls += 1;
      } while (after !== null);
      expect(calls).toBe(3);
      const left = await Promise.all(
        lanes.map(async (lane) => [
          (await thoughts.vectors(lane, 'old', ['a1'])).size,
          (await thoughts.vectors(lane, 'new', ['a1'])).size,
        ]),
      );
      expect(left).toEqual([
        [0, 1],
        [0, 1],
        [0, 1],
      ]);
    });

    it('may be stored twice', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const vectors = new Map([['a1', roundedVector(Float32Array.of(1, 0))]]);
      await b.ledger.thoughts.storeVectors(lane, 'fake-2', vectors);
      await b.ledger.thoughts.storeVectors(lane, 'fake-2', vectors);
      expect(await b.ledger.thoughts.vectors(lane, 'fake-2', ['a1'])).toEqual(vectors);
      expect((await b.ledger.thoughts.vectors(lane, 'fake-2', [])).size).toBe(0);
    });
  });
}

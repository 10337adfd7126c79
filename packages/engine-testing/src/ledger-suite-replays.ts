import type { BatchState, LaneId, NewReplay, ReplayFilter } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, deleted, home, scope } from './builders.ts';
import {
  ALL,
  ANN,
  type Bench,
  batchOf,
  expectKind,
  expectThere,
  fail,
  laneOf,
  MINUTE,
  nextTurn,
  OTHER_TENANT,
  replay,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';

const PARKED: readonly BatchState[] = ['parked'];

export function describeReplays(bench: () => Bench): void {
  describe('batches that match a replay', () => {
    it('are counted, and shown oldest first', async () => {
      const b = bench();
      const ids = await park(b, 3);
      await store(b);
      const { matched, batches } = await b.ledger.replays.match(TENANT, { states: PARKED }, 2);
      expect({ matched, ids: batches.map(({ id }) => id) }).toEqual({ matched: 3, ids: ids.slice(0, 2) });
    });

    it('are filtered by all that a filter says, and are those of one tenant', async () => {
      const b = bench();
      const began = b.tools.now();
      const [ann = '', later = ''] = await park(b, 2, { code: 'context_too_long' });
      const [bob = ''] = await park(b, 1, { userId: 'bob' });
      const matched = async (filter: Partial<ReplayFilter>, tenant = TENANT) => {
        const { batches } = await b.ledger.replays.match(tenant, { states: PARKED, ...filter }, 10);
        return batches.map(({ id }) => id);
      };
      expect(await matched({ userId: 'bob' })).toEqual([bob]);
      expect(await matched({ errorCode: 'context_too_long' })).toEqual([ann, later]);
      expect(await matched({ since: began + 1 })).toEqual([later, bob]);
      expect(await matched({ until: began + 1 })).toEqual([ann]);
      expect(await matched({ ids: [bob, 'bat_unknown'] })).toEqual([bob]);
      expect(await matched({ lane: (await laneOf(b)).id })).toEqual([ann, later]);
      expect(await matched({ states: ['pending', 'empty'] })).toEqual([]);
      expect(await matched({}, OTHER_TENANT)).toEqual([]);
      const { results: parked } = await b.ledger.batches.list(TENANT, {}, { limit: 9, cursor: null });
      const messages = parked.reduce((sum, { messageCount }) => sum + messageCount, 0);
      const size = await b.ledger.replays.size(TENANT, { states: PARKED });
      expect(size).toMatchObject({ batches: 3, backfill: 0, messages, owners: 2 });
      expect(size.tokens).toBeGreaterThan(0);
      const nothing = { batches: 0, backfill: 0, tokens: 0, messages: 0, owners: 0 };
      expect(await b.ledger.replays.size(OTHER_TENANT, { states: PARKED })).toEqual(nothing);
    });
  });

  describe('a replay', () => {
    it('puts its batches back in line slice by slice, each once, and says what became of them', async () => {
      const b = bench();
      const ids = await park(b, 5);
      const { id } = await created(b);
      const first = await b.ledger.replays.advance(id, { limit: 2, now: b.tools.now() });
      expect(first).toMatchObject({ replayed: ids.slice(0, 2), more: true });
      expect(first.nudges).toHaveLength(1);
      expect(await b.ledger.replays.get(TENANT, id)).toMatchObject({ state: 'preparing' });
      await fail(b, await nextTurn(b), { retryable: false });
      await fail(b, await nextTurn(b), { retryable: false });
      expect(await b.ledger.replays.states(id)).toEqual({ parked: 1, pending: 1 });
      const rest = await b.ledger.replays.advance(id, { limit: 3, now: b.tools.now() });
      expect(rest).toMatchObject({ replayed: ids.slice(2), more: false });
      expect(await b.ledger.replays.get(TENANT, id)).toMatchObject({ state: 'running' });
      expect((await batchOf(b, ids[0] ?? '')).state).toBe('parked');
      expect((await b.ledger.replays.batches(id, 10)).map((batch) => batch.id)).toEqual(ids);
      expect(await b.ledger.replays.advance(id, { limit: 3, now: b.tools.now() })).toEqual({
        replayed: [],
        nudges: [],
        cleared: [],
        more: false,
      });
    });

    it('says in which lanes nothing is parked any more', async () => {
      const b = bench();
      const [first = '', second = ''] = await park(b, 2);
      const lane = (await laneOf(b)).id;
      const [bobs = ''] = await park(b, 1, { userId: 'bob' });
      const advance = async (ids: readonly string[]) => {
        const { id } = await created(b, { filter: { states: PARKED, ids } });
        return (await b.ledger.replays.advance(id, { limit: 10, now: b.tools.now() })).cleared;
      };
      const bob = (await batchOf(b, bobs)).lane;
      expect(await advance([first, bobs])).toEqual([bob]);
      expect(await advance([first])).toEqual([]);
      expect(await advance([second])).toEqual([lane]);
    });

    it('leaves alone what is not parked any more', async () => {
      const b = bench();
      const [first = '', second = ''] = await park(b, 2);
      const { id } = await created(b);
      await replay(b, [first]);
      const { replayed } = await b.ledger.replays.advance(id, { limit: 10, now: b.tools.now() });
      expect(replayed).toEqual([second]);
      expect(await b.ledger.replays.states(id)).toEqual({ pending: 1 });
    });

    it('belongs to one tenant, and is listed newest first', async () => {
      const b = bench();
      const first = await created(b, { matched: 7, filter: { states: PARKED, userId: 'ann' } });
      b.tools.advance(SECOND);
      const second = await created(b);
      expect(await b.ledger.replays.get(OTHER_TENANT, first.id)).toBeNull();
      expect((await b.ledger.replays.list(OTHER_TENANT, ALL)).results).toEqual([]);
      const page = await b.ledger.replays.list(TENANT, { limit: 1, cursor: null });
      expect(page.results.map(({ id }) => id)).toEqual([second.id]);
      const rest = await b.ledger.replays.list(TENANT, { limit: 1, cursor: page.nextCursor });
      expect(rest.results).toMatchObject([{ id: first.id, matched: 7, filter: { states: PARKED, userId: 'ann' } }]);
    });

    it('with a key that came before is that one, and another one under the same key is refused', async () => {
      const b = bench();
      const key = { key: 'again', bodyHash: 'h1' };
      const { id } = await created(b, { idempotency: key });
      const replays = b.ledger.replays;
      expect(await replays.create(newReplay(b, { idempotency: key }))).toEqual({ kind: 'repeated', id });
      const other = newReplay(b, { idempotency: { ...key, bodyHash: 'h2' } });
      expect(await replays.create(other)).toEqual({ kind: 'conflict' });
      expect(await replays.create(newReplay(b, { idempotency: key, tenant: OTHER_TENANT }))).toEqual({
        kind: 'stored',
      });
    });

    it('is given to one worker at a time, longest due first, until it is over', async () => {
      const b = bench();
      const first = await created(b);
      b.tools.advance(SECOND);
      const second = await created(b);
      const now = b.tools.now();
      const take = () => b.ledger.replays.take(now, now + MINUTE);
      expect([(await take())?.id, (await take())?.id, await take()]).toEqual([first.id, second.id, null]);
      expect(await b.ledger.replays.take(now + MINUTE, now + 2 * MINUTE)).toMatchObject({ id: first.id });
      await b.ledger.replays.move(first.id, { from: 'preparing', to: 'done', dueAt: null });
      await b.ledger.replays.move(second.id, { from: 'preparing', to: 'running', dueAt: now });
      expect(await take()).toMatchObject({ id: second.id, state: 'running' });
      expect(await b.ledger.replays.take(now + 99 * MINUTE, now + 100 * MINUTE)).toMatchObject({ id: second.id });
    });

    it('is looked at anew when a clock is set back, but what is over stays until its own time', async () => {
      const b = bench();
      const [working, over] = [await created(b), await created(b, { kind: 'what_if', changes: { model: 'other' } })];
      const [now, week] = [b.tools.now(), b.tools.now() + 7 * 24 * 60 * MINUTE];
      await b.ledger.replays.move(working.id, { from: 'preparing', to: 'running', dueAt: week });
      await b.ledger.replays.move(over.id, { from: 'preparing', to: 'done', dueAt: week, expiresAt: week });
      await b.ledger.lanes.clockSetBack(now, { all: true });
      const take = () => b.ledger.replays.take(now, now + MINUTE);
      expect([(await take())?.id, await take()]).toEqual([working.id, null]);
      expect(await b.ledger.replays.take(week, week + MINUTE)).toMatchObject({ id: working.id });
      expect(await b.ledger.replays.take(week, week + MINUTE)).toMatchObject({ id: over.id });
    });

    it('moves on only from the state it is in, and keeps what a step does not change', async () => {
      const b = bench();
      const { id } = await created(b, { kind: 'what_if', changes: { model: 'other' } });
      const now = b.tools.now();
      const { replays } = b.ledger;
      expect(await replays.move(id, { from: 'running', to: 'done', dueAt: null })).toBe(false);
      const done = {
        from: 'preparing',
        to: 'done',
        dueAt: null,
        result: { added: 1 },
        finishedAt: now,
        expiresAt: now + 1,
      };
      expect(await replays.move(id, { ...done, from: 'preparing', to: 'done' })).toBe(true);
      const failure = { code: 'internal', message: 'no', at: now };
      await replays.move(id, { from: 'done', to: 'discarding', dueAt: null, failure });
      expect(await replays.get(TENANT, id)).toMatchObject({
        state: 'discarding',
        changes: { model: 'other' },
        result: { added: 1 },
        finishedAt: now,
        expiresAt: now + 1,
        failure,
      });
      await replays.move(id, { from: 'discarding', to: 'discarded', dueAt: null, expiresAt: null });
      expect(await replays.get(TENANT, id)).toMatchObject({ state: 'discarded', expiresAt: null });
    });

    it('of batches named when it was asked for has those', async () => {
      const b = bench();
      const { batch } = await store(b);
      await store(b);
      const { id } = await created(b, { kind: 'what_if', batchIds: [batch.id, 'bat_unknown'] });
      expect((await b.ledger.replays.batches(id, 10)).map((one) => one.id)).toEqual([batch.id]);
    });
  });

  describe('an owner that is erased', () => {
    it('is named by no filter and no result of its tenant any more', async () => {
      const b = bench();
      const of = (id: string) => ({
        owner: { kind: 'user', id },
        memoryId: null,
        life: `${id} likes tea`,
        whatIf: null,
      });
      const filter = { states: PARKED, userId: 'ann' };
      const ann = await created(b, { filter, idempotency: { key: 'ann', bodyHash: 'h' } });
      const both = await created(b, { kind: 'what_if' });
      const bob = await created(b, { filter: { states: PARKED, userId: 'bob' } });
      const elsewhere = await created(b, { filter, tenant: OTHER_TENANT });
      const result = { same: 7, differences: [of('ann'), of('bob')] };
      await b.ledger.replays.move(both.id, { from: 'preparing', to: 'done', dueAt: null, result });
      await b.ledger.replays.forget(TENANT, ANN);
      const { results } = await b.ledger.replays.list(TENANT, ALL);
      const listed = new Map(results.map((replay) => [replay.id, replay]));
      expect(listed.get(ann.id)?.filter).toEqual({ states: PARKED, ids: [] });
      expect(listed.get(both.id)?.result).toEqual({ same: 7, differences: [of('bob')] });
      expect(listed.get(bob.id)?.filter).toEqual({ states: PARKED, userId: 'bob' });
      expect((await b.ledger.replays.get(OTHER_TENANT, elsewhere.id))?.filter).toEqual(filter);
    });

    it('stands in no result of a what-if on their batches, and its copies are discarded', async () => {
      const b = bench();
      const { batch } = await store(b);
      const { id } = await created(b, { kind: 'what_if', batchIds: [batch.id] });
      const { erasures, replays } = b.ledger;
      await replays.move(id, { from: 'preparing', to: 'done', dueAt: null, result: { said: 'Ann likes tea' } });
      const erasure = await erasures.request(TENANT, ANN, {
        id: b.tools.id('ers'),
        ownerHash: 'h',
        now: b.tools.now(),
      });
      while ((await erasures.slice(erasure.id, 10)).more);
      expect(await replays.get(TENANT, id)).toMatchObject({ state: 'discarding', result: null });
    });

    it('leaves a replay of theirs without batches, instead of with those of everybody', async () => {
      const b = bench();
      const [first = '', second = ''] = await park(b, 2);
      const [bob = ''] = await park(b, 1, { userId: 'bob' });
      const { id } = await created(b, { filter: { states: PARKED, userId: 'ann' } });
      const { replays } = b.ledger;
      expect((await replays.advance(id, { limit: 1, now: b.tools.now() })).replayed).toEqual([first]);
      await replays.forget(TENANT, ANN);
      expect(await replays.advance(id, { limit: 9, now: b.tools.now() })).toMatchObject({ replayed: [], more: false });
      expect((await batchOf(b, second)).state).toBe('parked');
      expect((await batchOf(b, bob)).state).toBe('parked');
    });
  });

  describe('the lives of a lane', () => {
    it('are its memories with what was recorded of them before a moment, by id', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, ANN, b.tools.now());
      const other = await b.ledger.memories.laneOf(TENANT, { kind: 'user', id: 'bob' }, b.tools.now());
      const kept = added(b.tools, home(lane));
      const gone = added(b.tools, home(lane), { text: 'Likes tea' });
      await write(b, kept, gone, added(b.tools, home(other, { scope: scope({ userId: 'bob' }) })));
      b.tools.advance(SECOND);
      const again = confirmed(b.tools, kept.memory);
      await write(b, again, deleted(b.tools, gone.memory));
      b.tools.advance(SECOND);
      const before = b.tools.now();
      await write(b, confirmed(b.tools, again.memory), added(b.tools, home(lane), { text: 'Too late' }));
      const lives = await b.ledger.replays.lives(lane, before, { after: null, limit: 10 });
      expect(lives.map((life) => [life.memory.id, life.events.map(({ kind }) => kind)])).toEqual([
        [kept.memory.id, ['ADD', 'NONE']],
        [gone.memory.id, ['ADD', 'DELETE']],
      ]);
      const page = await b.ledger.replays.lives(lane, before, { after: kept.memory.id, limit: 10 });
      expect(page.map((life) => life.memory.id)).toEqual([gone.memory.id]);
      expect(await b.ledger.replays.lives('lane_unknown' as LaneId, before, { after: null, limit: 10 })).toEqual([]);
    });
  });
}

/** Parks so many batches, a second apart. */
async function park(b: Bench, count: number, given: { code?: string; userId?: string } = {}): Promise<string[]> {
  const ids: string[] = [];
  const { userId = 'ann', ...how } = given;
  for (let i = 0; i < count; i += 1) {
    const { batch } = await store(b, { scope: scope({ userId }), flush: true });
    const turn = await nextTurn(b, { owner: { kind: 'user', id: userId } });
    expectKind(await fail(b, turn, { ...how, retryable: false }), 'parked');
    ids.push(batch.id);
    b.tools.advance(SECOND);
  }
  return ids;
}

const newReplay = (b: Bench, given: Partial<NewReplay> = {}): NewReplay => ({
  id: b.tools.id('rpl'),
  tenant: TENANT,
  kind: 'live',
  filter: { states: PARKED },
  changes: {},
  matched: 0,
  batchIds: [],
  idempotency: null,
  now: b.tools.now(),
  ...given,
});

async function created(b: Bench, given: Partial<NewReplay> = {}): Promise<NewReplay> {
  const replay = newReplay(b, given);
  expect(await b.ledger.replays.create(replay)).toEqual({ kind: 'stored' });
  expectThere(await b.ledger.replays.get(replay.tenant, replay.id));
  return replay;
}

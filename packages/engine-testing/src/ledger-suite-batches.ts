import { InvalidCursorError } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, home, newMessage, scope, updated, user } from './builders.ts';
import {
  ALL,
  apply,
  type Bench,
  claimedBatch,
  fail,
  nextTurn,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
} from './ledger-bench.ts';

export function describeBatches(bench: () => Bench): void {
  describe('the list of batches', () => {
    it('gives the newest first, page by page, each exactly once', async () => {
      const b = bench();
      const ids = await storeSeries(b, 5);
      const pages = await allPages(b, 2);
      expect(pages).toEqual([[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]);
    });

    it('has no next page after a full last one', async () => {
      const b = bench();
      await storeSeries(b, 4);
      expect((await allPages(b, 2)).length).toBe(2);
    });

    it('repeats nothing when batches arrive between two pages', async () => {
      const b = bench();
      const ids = await storeSeries(b, 4);
      const first = await b.ledger.batches.list(TENANT, {}, { limit: 2, cursor: null });
      await storeSeries(b, 2);
      const second = await b.ledger.batches.list(TENANT, {}, { limit: 2, cursor: first.nextCursor });
      expect(second.results.map((batch) => batch.id)).toEqual([ids[1], ids[0]]);
    });

    it('filters by state, user and time of acceptance', async () => {
      const b = bench();
      const { batch: ann } = await claimedBatch(b);
      b.tools.advance(SECOND);
      const { batch: bob } = await store(b, { scope: scope({ userId: 'bob', runId: 'r1' }) });
      const idsOf = async (filter: Parameters<typeof b.ledger.batches.list>[1]) =>
        (await b.ledger.batches.list(TENANT, filter, ALL)).results.map((batch) => batch.id);
      expect(await idsOf({ state: 'pending' })).toEqual([bob.id]);
      expect(await idsOf({ userId: 'ann' })).toEqual([ann.id]);
      expect(await idsOf({ since: bob.acceptedAt })).toEqual([bob.id]);
      expect(await idsOf({ state: 'pending', userId: 'ann' })).toEqual([]);
    });

    it('filters by line and by why a batch is parked', async () => {
      const b = bench();
      const { batch: ann } = await parkedBatch(b, ['ann', 'model_rejected']);
      const { batch: bob, lane } = await parkedBatch(b, ['bob', 'context_too_long']);
      await parkedBatch(b, ['eve', 'model_rejected'], OTHER_TENANT);
      const idsOf = async (filter: Parameters<typeof b.ledger.batches.list>[1]) =>
        (await b.ledger.batches.list(TENANT, filter, ALL)).results.map((batch) => batch.id);
      expect(await idsOf({ errorCode: 'model_rejected' })).toEqual([ann.id]);
      expect(await idsOf({ lane })).toEqual([bob.id]);
      expect(await idsOf({ lane, errorCode: 'model_rejected' })).toEqual([]);
      expect(await idsOf({ lane: 'lane_none' })).toEqual([]);
    });

    it('tells for which reasons batches of a tenant are parked, the most frequent first', async () => {
      const b = bench();
      expect(await b.ledger.batches.parkedReasons(TENANT)).toEqual([]);
      const { batch: first } = await parkedBatch(b, ['ann', 'context_too_long']);
      for (const [userId, code] of [
        ['ann', 'model_rejected'],
        ['bob', 'model_rejected'],
        ['ann', 'model_rejected'],
      ] as const) {
        b.tools.advance(SECOND);
        await parkedBatch(b, [userId, code]);
      }
      await parkedBatch(b, ['eve', 'internal'], OTHER_TENANT);
      const at = first.acceptedAt;
      expect(await b.ledger.batches.parkedReasons(TENANT)).toEqual([
        {
          code: 'model_rejected',
          batches: 3,
          owners: 2,
          example: 'the model was slow',
          oldestAt: at + SECOND,
          newestAt: at + 3 * SECOND,
        },
        { code: 'context_too_long', batches: 1, owners: 1, example: 'the model was slow', oldestAt: at, newestAt: at },
      ]);
    });

    it('refuses a cursor it never gave out', async () => {
      const b = bench();
      const page = { limit: 2, cursor: 'no cursor at all' };
      await expect(b.ledger.batches.list(TENANT, {}, page)).rejects.toThrow(InvalidCursorError);
    });
  });

  describe('the events of a batch', () => {
    it('are all events its messages led to, oldest first', async () => {
      const b = bench();
      const messages = [newMessage(b.tools), newMessage(b.tools)];
      const { batch, turn } = await claimedBatch(b, { messages });
      const at = home(turn.lane);
      const sourceIds = [messages[1]?.id ?? ''];
      const born = added(b.tools, at, { sourceIds });
      await apply(b, turn, { changes: [born, added(b.tools, at)] });
      const { batch: next } = await store(b);
      const second = await nextTurn(b);
      const change = updated(b.tools, born.memory, { sourceIds, text: 'Lives in Rome' });
      await apply(b, second, { changes: [change] });
      const events = await b.ledger.batches.events(TENANT, batch.id);
      expect(events).toEqual([...born.events, ...change.events]);
      expect(await b.ledger.batches.events(TENANT, next.id)).toEqual([]);
    });

    it('include those that only confirmed a memory', async () => {
      const b = bench();
      const lane = await b.ledger.memories.laneOf(TENANT, user('ann'), b.tools.now());
      const born = added(b.tools, home(lane));
      await b.ledger.memories.write(TENANT, { changes: [born], tombstones: [], now: b.tools.now() });
      const { batch, turn } = await claimedBatch(b);
      const change = confirmed(b.tools, born.memory, { sourceIds: batch.messages.map((message) => message.id) });
      await apply(b, turn, { changes: [change] });
      expect(await b.ledger.batches.events(TENANT, batch.id)).toEqual(change.events);
    });

    it('are none of another lane, though they name one of its messages', async () => {
      const b = bench();
      const { batch } = await store(b, { scope: scope({ userId: 'bob' }) });
      const lane = await b.ledger.memories.laneOf(TENANT, user('ann'), b.tools.now());
      const born = added(b.tools, home(lane), { sourceIds: batch.messages.map(({ id }) => id) });
      await b.ledger.memories.write(TENANT, { changes: [born], tombstones: [], now: b.tools.now() });
      expect(await b.ledger.batches.events(TENANT, batch.id)).toEqual([]);
    });

    it('are none for a batch that is not there', async () => {
      expect(await bench().ledger.batches.events(TENANT, 'bat_none')).toEqual([]);
    });
  });
}

async function storeSeries(b: Bench, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) {
    b.tools.advance(SECOND);
    ids.push((await store(b)).batch.id);
  }
  return ids;
}

/** A list that turns in circles fails instead of hanging. */
const MANY_PAGES = 20;

async function allPages(b: Bench, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof b.ledger.batches.list>> = await b.ledger.batches.list(
      TENANT,
      {},
      { limit, cursor },
    );
    pages.push(page.results.map((batch) => batch.id));
    cursor = page.nextCursor;
  } while (cursor !== null && pages.length < MANY_PAGES);
  return pages;
}

/** A batch of a user that was given up. */
async function parkedBatch(b: Bench, [userId, code]: readonly [string, string], tenant = TENANT) {
  const { batch } = await store(b, { scope: scope({ userId }), tenant, flush: true });
  const turn = await nextTurn(b, { owner: user(userId), tenant });
  await fail(b, turn, { code, retryable: false });
  return { batch, lane: turn.lane };
}

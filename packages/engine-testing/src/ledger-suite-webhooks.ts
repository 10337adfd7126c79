import { describe, expect, it } from 'vitest';
import { added, deleted, home, retracted, updated, user } from './builders.ts';
import {
  ALL,
  apply,
  type Bench,
  claimedBatch,
  MAX_ATTEMPTS,
  OTHER_TENANT,
  POLICY,
  project,
  SECOND,
  TENANT,
  write,
} from './ledger-bench.ts';
import { claim, create, done, failed, LEASE, note, notices, oneMemory, subjectOf } from './ledger-bench-webhooks.ts';

export function describeWebhooks(bench: () => Bench): void {
  describe('a webhook', () => {
    it('comes back as it was made, and as it was changed, for its tenant alone', async () => {
      const b = bench();
      const made = await create(b, { userId: 'añn', appId: 'a"p', name: 'crm' });
      const { webhooks } = await b.reopened();
      const { createdAt: updatedAt } = made;
      expect(await webhooks.get(TENANT, made.id)).toEqual({ ...made, ...UNUSED, updatedAt });
      const changes = { url: 'https://other/', events: ['batch.parked'], secret: 'new', active: false } as const;
      const previous = { secret: made.secret, until: 9 };
      const changed = await webhooks.change(TENANT, made.id, { ...changes, previous }, 7);
      expect(changed).toEqual({ ...made, ...UNUSED, ...changes, previous, updatedAt: 7 });
      expect(await webhooks.get(OTHER_TENANT, made.id)).toBeNull();
      expect(await webhooks.change(OTHER_TENANT, made.id, { url: 'x' }, 7)).toBeNull();
      expect(await webhooks.remove(OTHER_TENANT, made.id)).toBe(false);
      expect((await webhooks.list(OTHER_TENANT, ALL)).results).toEqual([]);
      expect((await webhooks.list(TENANT, ALL)).results).toEqual([changed]);
    });

    it('keeps each of the changes that are made at once', async () => {
      const b = bench();
      const { id } = await create(b);
      const changes = [{ name: 'b' }, { url: 'https://b/' }, { userId: 'bob' }, { appId: 'b' }, { secret: 'b' }];
      await Promise.all(changes.map((change) => b.ledger.webhooks.change(TENANT, id, change, 7)));
      expect(await b.ledger.webhooks.get(TENANT, id)).toMatchObject(Object.assign({}, ...changes));
    });

    it('is one of at most so many of its tenant', async () => {
      const b = bench();
      const made = await create(b);
      const another = { ...made, id: b.tools.id('whk') };
      expect(await b.ledger.webhooks.create(another, 1)).toBe(false);
      expect(await b.ledger.webhooks.create({ ...another, tenant: OTHER_TENANT }, 1)).toBe(true);
      expect((await b.ledger.webhooks.list(TENANT, ALL)).results.map(({ id }) => id)).toEqual([made.id]);
    });

    it('goes with its deliveries', async () => {
      const b = bench();
      const { id } = await create(b);
      await oneMemory(b);
      expect(await b.ledger.webhooks.remove(TENANT, id)).toBe(true);
      expect(await b.ledger.webhooks.get(TENANT, id)).toBeNull();
      expect(await b.ledger.webhooks.backlog()).toEqual({ waiting: 0, failed: 0, oldest: null });
    });
  });

  describe('what a webhook is notified of', () => {
    it('is what held before and what holds now: an explicit write, a change, a deletion, an undo', async () => {
      const b = bench();
      await create(b);
      const first = await oneMemory(b);
      b.tools.advance(SECOND);
      const second = updated(b.tools, first.memory, { text: 'Lives in Oslo' });
      await write(b, second);
      b.tools.advance(SECOND);
      const third = deleted(b.tools, second.memory);
      await write(b, third);
      b.tools.advance(SECOND);
      const back = retracted(b.tools, third.memory, { retracts: [3] });
      await write(b, { ...back, events: back.events.map((event) => ({ ...event, previous: null })) });
      const texts = (await notices(b)).map(({ type, data }) => [type, data.before, data.after]);
      const before = first.memory.versions[0]?.text;
      expect(texts).toEqual([
        ['memory.added', null, before],
        ['memory.updated', before, 'Lives in Oslo'],
        ['memory.deleted', 'Lives in Oslo', null],
        ['memory.added', null, 'Lives in Oslo'],
      ]);
    });

    it('is of a batch that it is searchable, and of memories as soon as they are applied', async () => {
      const b = bench();
      await create(b);
      const { batch, turn } = await claimedBatch(b);
      await apply(b, turn, { changes: [added(b.tools, home(turn.lane))] });
      expect((await notices(b)).map(({ type }) => type)).toEqual(['memory.added']);
      b.tools.advance(SECOND);
      await project(b);
      const [, ended] = await notices(b);
      expect(ended).toMatchObject({
        type: 'batch.consolidated',
        data: { batch_id: batch.id, state: 'consolidated', user_id: 'ann', error: null },
      });
    });

    it('is of a batch that it was parked, with the reason', async () => {
      const b = bench();
      await create(b);
      const { batch, turn } = await claimedBatch(b);
      const failure = { code: 'model_rejected', message: 'no', at: b.tools.now() };
      const how = { failure, retryable: false, retryAt: 0, maxAttempts: MAX_ATTEMPTS, policy: POLICY };
      await b.ledger.lanes.fail(turn, how);
      const data = { batch_id: batch.id, state: 'parked', error: { code: 'model_rejected', message: 'no' } };
      expect(await notices(b)).toMatchObject([{ type: 'batch.parked', data }]);
    });

    it('is nothing of what was refused, of other tenants, users, apps and events, or while it is not active', async () => {
      const b = bench();
      await create(b, { active: false });
      await create(b, { tenant: OTHER_TENANT });
      await create(b, { userId: 'bob' });
      await create(b, { appId: 'diary' });
      await create(b, { events: ['memory.deleted'] });
      const { memory } = await oneMemory(b);
      await create(b);
      const late = { ...updated(b.tools, memory), expectedRevision: 7 };
      const writing = { changes: [late], tombstones: [], now: b.tools.now() };
      expect(await b.ledger.memories.write(TENANT, writing)).toMatchObject({ kind: 'conflict' });
      expect(await notices(b)).toEqual([]);
    });

    it('reaches each webhook under one event id and delivery ids of their own', async () => {
      const b = bench();
      const hooks = [await create(b, { userId: 'ann' }), await create(b)];
      await oneMemory(b);
      const claimed = await claim(b);
      expect(claimed.map(({ webhook }) => webhook.id).sort()).toEqual(hooks.map(({ id }) => id).sort());
      expect(new Set(claimed.map(({ delivery }) => delivery.eventId)).size).toBe(1);
      expect(new Set(claimed.map(({ delivery }) => delivery.id)).size).toBe(2);
    });
  });

  describe('a delivery', () => {
    it('is claimed by one at a time, and by another when the lease of the first is over', async () => {
      const b = bench();
      await create(b);
      await oneMemory(b);
      const both = await Promise.all([claim(b), claim(b)]);
      const [first] = both.flat();
      expect(both.flat()).toHaveLength(1);
      b.tools.advance(LEASE);
      const [second] = await claim(b);
      expect(second?.delivery).toMatchObject({ id: first?.delivery.id, attempts: 2, tries: 2 });
      expect(await note(b, first, done(b))).toBe(false);
      expect(await note(b, second, done(b))).toBe(true);
      b.tools.advance(LEASE);
      expect(await claim(b)).toEqual([]);
    });

    it('waits for the one before it of the same memory, and not for others', async () => {
      const b = bench();
      await create(b);
      const first = await oneMemory(b);
      await write(b, updated(b.tools, first.memory, { text: 'Lives in Oslo' }));
      const other = await oneMemory(b);
      const claimed = await claim(b);
      expect(claimed.map(subjectOf).sort()).toEqual([first.memory.id, other.memory.id].sort());
      const mine = claimed.find((one) => subjectOf(one) === first.memory.id);
      await note(b, mine, done(b));
      expect((await claim(b)).map(({ delivery }) => delivery.type)).toEqual(['memory.updated']);
    });

    it('leaves places to other webhooks, however many wait for its own', async () => {
      const b = bench();
      const slow = await create(b, { events: ['memory.added'] });
      for (let i = 0; i < 4; i += 1) await oneMemory(b);
      const quick = await create(b, { events: ['memory.added'] });
      await oneMemory(b);
      const first = await claim(b, { limit: 3, each: 2 });
      expect(first.map(({ webhook }) => webhook.id)).toEqual([slow.id, slow.id, quick.id]);
      const taken = { [slow.id]: 2, [quick.id]: 1 };
      expect(await claim(b, { limit: 3, each: 2, taken })).toEqual([]);
      const next = await claim(b, { limit: 5, each: 2, taken: { [slow.id]: 1 } });
      expect(next.map(({ webhook }) => webhook.id)).toEqual([slow.id]);
      expect(await claim(b)).toHaveLength(2);
    });

    it('that failed waits for its time, and its webhook is tried with one at a time until it succeeds', async () => {
      const b = bench();
      const { id } = await create(b);
      await oneMemory(b);
      await oneMemory(b);
      const [first, second] = await claim(b);
      const now = b.tools.now();
      expect(await note(b, first, failed(b, { retryAt: now + 9, heldUntil: now + 5 }))).toBe(true);
      await note(b, second, failed(b, { retryAt: now + 9, heldUntil: now + 5 }));
      const failing = { failures: 2, failingSince: now, lastError: 'away' };
      expect(await b.ledger.webhooks.get(TENANT, id)).toMatchObject(failing);
      b.tools.advance(8);
      expect(await claim(b)).toEqual([]);
      b.tools.advance(1);
      const [again, none] = await claim(b);
      expect(again?.delivery).toMatchObject({ attempts: 2, status: 500, error: 'away' });
      expect(none).toBeUndefined();
      await note(b, again, done(b));
      expect(await b.ledger.webhooks.get(TENANT, id)).toMatchObject({
        failures: 0,
        failingSince: null,
        lastError: null,
      });
      expect(await claim(b)).toHaveLength(1);
    });

    it('that has failed for good is replayed, alone or with all others', async () => {
      const b = bench();
      const { id } = await create(b);
      await oneMemory(b);
      const [claimed] = await claim(b);
      await note(b, claimed, failed(b, { retryAt: null, heldUntil: 0 }));
      const { webhooks } = b.ledger;
      const list = async (state?: 'failed' | 'delivered') =>
        (await webhooks.deliveries(TENANT, id, state === undefined ? {} : { state }, ALL)).results;
      expect(await list('failed')).toMatchObject([{ id: claimed?.delivery.id, endedAt: b.tools.now(), status: 500 }]);
      expect(await webhooks.backlog()).toEqual({ waiting: 0, failed: 1, oldest: null });
      expect(await webhooks.replay(OTHER_TENANT, id, 'failed', b.tools.now())).toBe(0);
      expect(await webhooks.replay(TENANT, id, 'failed', b.tools.now())).toBe(1);
      const [again] = await claim(b);
      expect(again?.delivery).toMatchObject({ attempts: 2, tries: 1 });
      await note(b, again, done(b));
      expect(await webhooks.replay(TENANT, id, 'failed', b.tools.now())).toBe(0);
      expect(await webhooks.replay(TENANT, id, { id: again?.delivery.id ?? '' }, b.tools.now())).toBe(1);
      expect(await list('delivered')).toEqual([]);
      expect((await webhooks.deliveries(OTHER_TENANT, id, {}, ALL)).results).toEqual([]);
    });

    it('to a webhook that is paused waits until it is active again', async () => {
      const b = bench();
      const { id } = await create(b);
      await oneMemory(b);
      const [claimed] = await claim(b);
      const now = b.tools.now();
      await note(b, claimed, { ...failed(b, { retryAt: now, heldUntil: now }), pause: true });
      expect(await b.ledger.webhooks.get(TENANT, id)).toMatchObject({ active: false, pausedAt: now });
      expect(await claim(b)).toEqual([]);
      const fresh = { active: true, pausedAt: null, failures: 0, failingSince: null };
      expect(await b.ledger.webhooks.change(TENANT, id, { active: true }, now)).toMatchObject(fresh);
      expect(await claim(b)).toHaveLength(1);
    });

    it('that is old goes', async () => {
      const b = bench();
      const { id } = await create(b);
      await oneMemory(b);
      const now = b.tools.now();
      expect(await b.ledger.webhooks.forget(now - 1, 10)).toBe(0);
      expect(await b.ledger.webhooks.forget(now, 10)).toBe(1);
      expect((await b.ledger.webhooks.deliveries(TENANT, id, {}, ALL)).results).toEqual([]);
    });

    it('goes with the user it is about, and a webhook for this user alone goes too', async () => {
      const b = bench();
      const own = await create(b, { userId: 'ann' });
      const other = await create(b);
      await oneMemory(b);
      const now = b.tools.now();
      await b.ledger.erasures.request(TENANT, user('ann'), { id: 'ers_1', ownerHash: 'h', now });
      while ((await b.ledger.erasures.slice('ers_1', 100)).more);
      await b.ledger.erasures.forgetOwner('ers_1');
      expect((await b.ledger.webhooks.list(TENANT, ALL)).results.map(({ id }) => id)).toEqual([other.id]);
      for (const { id } of [own, other]) {
        expect((await b.ledger.webhooks.deliveries(TENANT, id, {}, ALL)).results).toEqual([]);
      }
    });
  });
}

const UNUSED = { previous: null, failures: 0, failingSince: null, lastError: null, pausedAt: null };

import type { Departed, Destination, NewDeparture, Owner } from '@slowwave/engine';
import { ownerBitsOf, spaceOf } from '@slowwave/engine';
import { promisedBy } from '@slowwave/engine/storing';
import { describe, expect, it } from 'vitest';
import { added, bitsOf, home, newBatch, newPlan, scope, storedAnswer, user } from './builders.ts';
import {
  ALL,
  ANN,
  append,
  apply,
  type Bench,
  batchOf,
  claim,
  claimedBatch,
  expectKind,
  expectThere,
  laneOf,
  nextTurn,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';
import { aLife, eraseAll, request } from './ledger-suite-erasures.ts';
import { append as giveReceipt } from './ledger-suite-receipts.ts';

const EAST = { cell: 'east', epoch: 7 } as const satisfies Destination;
const AWAY = { code: 'owner_away', away: EAST };

const stampOf = async (bench: Bench, owner: Owner = ANN): Promise<string> =>
  expectThere(await bench.ledger.departures.stamp(TENANT, owner));

interface How extends Partial<NewDeparture> {
  readonly owner?: Owner;
}

/** Departs, with everything that was written so far unless a stamp is given. */
async function depart(bench: Bench, { owner = ANN, ...given }: How = {}): Promise<Departed> {
  const { ledger, tools } = bench;
  const stamp = given.stamp ?? (await ledger.departures.stamp(TENANT, owner)) ?? '';
  const bits = ownerBitsOf(tools, { tenant: TENANT, owner });
  const how = { to: EAST, ownerHash: `hash of ${owner.id}`, until: tools.now() + 60_000, now: tools.now() };
  return ledger.departures.depart(TENANT, owner, { id: tools.id('dep'), bits, ...how, ...given, stamp });
}

/** The removal of what a departure leaves behind. */
async function removalOf({ ledger }: Bench): Promise<string> {
  const removal = (await ledger.erasures.open(10)).find(({ departed }) => departed);
  return expectThere(removal).id;
}

async function removeAll(bench: Bench): Promise<void> {
  const id = await removalOf(bench);
  await eraseAll(bench, id);
  while ((await bench.ledger.trail.forgetOwner(id, 1)) > 0);
  await bench.ledger.erasures.forgetOwner(id);
}

/** What holds while an owner departs, and while it is away. */
export function describeDepartures(bench: () => Bench): void {
  describe('a departure', () => {
    it('is read by nobody from that moment on, and known by where the owner went', async () => {
      const b = bench();
      const { batchId, memoryId, lane } = await aLife(b);
      const departed = expectKind(await depart(b), 'departed');
      expect(departed).toMatchObject({ tenant: TENANT, to: EAST, departedAt: b.tools.now() });
      const { ledger } = b;
      expect(await ledger.lanes.find(TENANT, ANN)).toBeNull();
      expect(await ledger.batches.get(TENANT, batchId)).toBeNull();
      expect(await ledger.memories.get(TENANT, memoryId)).toBeNull();
      expect(await ledger.erasures.standing(lane)).toBe(false);
      expect((await ledger.overview.owners(TENANT, ALL)).results).toEqual([]);
      const { kind: _, ...away } = departed;
      expect(await ledger.departures.find(TENANT, ANN)).toEqual(away);
      expect(await ledger.departures.find(TENANT, user('bob'))).toBeNull();
      const bits = ownerBitsOf(b.tools, { tenant: TENANT, owner: ANN });
      expect(await ledger.departures.withBits(TENANT, bits)).toEqual([away]);
      expect(await ledger.departures.count()).toBe(1);
    });

    it('takes all rows along without a word of an erasure, and accepts nothing fewer than it was given', async () => {
      const b = bench();
      const gone = await aLife(b);
      const kept = await aLife(b, user('bob'));
      await b.ledger.trail.append([trailEntry(b, 'ann'), trailEntry(b, 'bob')]);
      const before = await b.ledger.overview.batches(TENANT);
      await depart(b);
      await removeAll(b);
      const { ledger } = b;
      const after = await ledger.overview.batches(TENANT);
      expect(after).toMatchObject({ accepted: before.accepted / 2, erased: 0 });
      expect(await ledger.lanes.get(gone.lane)).toBeNull();
      expect(await ledger.erasures.open(10)).toEqual([]);
      expect((await ledger.trail.list(TENANT, {}, ALL)).results.map(({ subject }) => subject?.id)).toEqual(['bob']);
      expect(await ledger.retention.uncompacted()).not.toBeNull();
      expect(await ledger.memories.get(TENANT, kept.memoryId)).not.toBeNull();
      expect((await batchOf(b, kept.batchId)).state).toBe('consolidated');
    });

    it('is refused where anything was written since its lines were read', async () => {
      const b = bench();
      await aLife(b);
      const writes: readonly (() => Promise<unknown>)[] = [
        () => store(b),
        async () => write(b, added(b.tools, home((await laneOf(b)).id), { text: 'pet: cat' })),
        () => nextTurn(b),
        async () => b.ledger.lanes.pause((await laneOf(b)).id, { paused: true, now: b.tools.now() }),
      ];
      for (const writing of writes) {
        const stamp = await stampOf(b);
        expect(await stampOf(b)).toBe(stamp);
        await writing();
        expect(await depart(b, { stamp })).toEqual({ kind: 'changed' });
      }
      expectKind(await depart(b), 'departed');
    });

    it('leaves nothing to a second owner that somebody would make who has not heard of it', async () => {
      const b = bench();
      await store(b, { idempotency: { key: 'k0', bodyHash: 'h' } });
      await depart(b);
      const { ledger, tools } = b;
      const late = newBatch(tools, { idempotency: { key: 'k1', bodyHash: 'h' } });
      await expect(append(b, late)).rejects.toMatchObject(AWAY);
      await expect(ledger.memories.laneOf(TENANT, ANN, tools.now())).rejects.toMatchObject(AWAY);
      expect(await ledger.lanes.find(TENANT, ANN)).toBeNull();
      // The key is free: it goes where the owner is.
      expectKind(await append(b, { ...late, scope: scope({ userId: 'bob' }) }), 'stored');
      expect(await ledger.departures.find(TENANT, user('bob'))).toBeNull();
    });

    it('that races with appends leaves none of them behind', async () => {
      const b = bench();
      for (let round = 0; round < 12; round += 1) {
        const { owner, before, kinds } = await raced(b, round);
        const isAway = (await b.ledger.departures.find(TENANT, owner)) !== null;
        expect(kinds.toSorted(), `round ${round}`).toEqual(
          isAway ? ['departed', 'owner_away', 'owner_away', 'owner_away'] : ['changed', 'stored', 'stored', 'stored'],
        );
        if (!isAway) expect((await batchOf(b, before.id)).state).toBe('pending');
      }
    });

    it('fences the turn that is under way', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      expectKind(await depart(b), 'departed');
      const { ledger, tools } = b;
      expect(await ledger.thoughts.storeAnswer(turn, storedAnswer(tools))).toEqual({ kind: 'fenced' });
      expect(await ledger.thoughts.storePlan(turn, newPlan(turn))).toEqual({ kind: 'fenced' });
      expect(await apply(b, turn)).toEqual({ kind: 'fenced' });
      expect(await claim(b, { lane: turn.lane, generation: turn.generation + 1 })).toEqual({ kind: 'stale' });
    });

    it('that is near keeps new work of the owner back for a while, and names what is under way', async () => {
      const b = bench();
      const { ledger, tools } = b;
      const leave = (until: number) => ledger.departures.leave(TENANT, ANN, { until, now: tools.now() });
      expect(await leave(tools.now())).toBeNull();
      const { nudge } = await store(b, { flush: true });
      const until = tools.now() + 60_000;
      expect(await leave(until)).toEqual([]);
      const stamp = await stampOf(b);
      const job = expectThere(nudge);
      expect(await claim(b, job)).toEqual({ kind: 'not_due', dueAt: until });
      expect(await stampOf(b)).toBe(stamp);
      tools.set(until);
      const { turn } = expectKind(await claim(b, job), 'claimed');
      expect(await leave(until + 60_000)).toHaveLength(1);
      await apply(b, turn, { graph: true });
      expect(await leave(until + 60_000)).toEqual([]);
      const held = { now: tools.now(), holdMs: 1_000 };
      expect((await ledger.graph.claim(turn.lane, held)).kind).toBe('later');
      expect((await ledger.nights.claim(turn.lane, { id: tools.id('con', bitsOf(tools)), ...held })).kind).toBe(
        'later',
      );
      await leave(0);
      expect((await ledger.graph.claim(turn.lane, held)).kind).toBe('claimed');
      expect(await leave(0)).toHaveLength(1);
    });

    it('keeps nothing back for a clock that was a day ahead', async () => {
      const b = bench();
      const { ledger, tools } = b;
      const { nudge } = await store(b, { flush: true });
      const ahead = tools.now() + 86_400_000;
      const leave = () => ledger.departures.leave(TENANT, ANN, { until: ahead + 60_000, now: ahead });
      await leave();
      const { turn } = expectKind(await claim(b, expectThere(nudge)), 'claimed');
      await apply(b, turn, { graph: true });
      await leave();
      const held = { now: tools.now(), holdMs: 1_000 };
      expect((await ledger.graph.claim(turn.lane, held)).kind).toBe('claimed');
      const night = { id: tools.id('con', bitsOf(tools)), ...held };
      expect((await ledger.nights.claim(turn.lane, night)).kind).toBe('claimed');
    });

    it('is one however often it is asked for, and has one destination', async () => {
      const b = bench();
      await store(b);
      const stamp = await stampOf(b);
      const first = await depart(b, { stamp });
      b.tools.advance(1);
      expect(await depart(b, { stamp })).toEqual(first);
      expect(await depart(b, { stamp, to: { ...EAST, epoch: 8 } })).toMatchObject({ kind: 'elsewhere', to: EAST });
      expect(await depart(b, { stamp, to: { ...EAST, cell: 'west' } })).toMatchObject({ kind: 'elsewhere', to: EAST });
      expect(await depart(b, { owner: user('nobody'), stamp })).toEqual({ kind: 'gone' });
    });

    it('is forgotten by whoever erases the owner', async () => {
      const b = bench();
      await store(b);
      await depart(b);
      await expect(append(b, newBatch(b.tools))).rejects.toMatchObject({ code: 'owner_away', away: EAST });
      expect(await b.ledger.departures.forget(TENANT, ANN)).toMatchObject({ to: EAST });
      expect(await b.ledger.departures.forget(TENANT, ANN)).toBeNull();
      await store(b);
    });

    it('is forgotten when its time has passed', async () => {
      const b = bench();
      await store(b);
      const until = b.tools.now() + 1_000;
      await depart(b, { until });
      expect(await b.ledger.departures.drop(until - 1, 10)).toBe(0);
      expect(await b.ledger.departures.drop(until, 10)).toBe(1);
      expect(await b.ledger.departures.find(TENANT, ANN)).toBeNull();
    });

    it('is not needed by new owners of slots that another cell has: they are refused', async () => {
      const b = bench();
      const slot = ownerBitsOf(b.tools, { tenant: TENANT, owner: ANN });
      const { departures, memories } = b.ledger;
      expect(await departures.slots()).toEqual({ epoch: 0, closed: [] });
      await store(b, { scope: scope({ userId: 'bob' }) });
      const all = {
        epoch: 4,
        closed: [
          { first: 0, last: slot - 1 },
          { first: slot, last: 65_535 },
        ],
      };
      expect(await departures.closeSlots(all)).toEqual(all);
      const refused = { code: 'owner_away', away: { cell: null, epoch: 4 } };
      await expect(append(b, newBatch(b.tools))).rejects.toMatchObject(refused);
      await expect(memories.laneOf(TENANT, ANN, b.tools.now())).rejects.toMatchObject(refused);
      await memories.laneOf(spaceOf({ tenant: TENANT, replay: 'rpl_1' }), ANN, b.tools.now());
      await store(b, { scope: scope({ userId: 'bob' }) });
      expect(await departures.closeSlots({ epoch: 3, closed: [] })).toBeNull();
      expect(await (await b.reopened()).departures.slots()).toEqual(all);
      const others = { epoch: 5, closed: [{ first: 0, last: slot - 1 }] };
      await b.ledger.departures.closeSlots(others);
      await store(b);
    });

    it('to a cell that is lost is forgotten, so that the owner begins anew', async () => {
      const b = bench();
      await store(b);
      await depart(b);
      const { departures } = b.ledger;
      expect(await departures.forgetCell('west')).toBe(0);
      await expect(append(b, newBatch(b.tools))).rejects.toMatchObject(AWAY);
      expect(await departures.forgetCell(EAST.cell)).toBe(1);
      await removeAll(b);
      await store(b);
    });

    it('waits for receipts that were given since, unless whoever moves the owner no longer asks for them', async () => {
      const b = bench();
      await aLife(b);
      const stamp = await stampOf(b);
      await giveReceipt(b, (await laneOf(b)).id);
      expect(await depart(b, { stamp })).toEqual({ kind: 'changed' });
      expectKind(await depart(b, { stamp: promisedBy(stamp) }), 'departed');
    });

    it('loses no rating, whatever was told and whenever: also of an answer that found nothing', async () => {
      const b = bench();
      await aLife(b);
      const lane = (await laneOf(b)).id;
      const early = await giveReceipt(b, lane);
      let copied = promisedBy(await stampOf(b));
      const rate = async (id: string, outcome: 'good' | 'bad') => {
        await b.ledger.receipts.judge(TENANT, id, { outcome, now: b.tools.now() });
        expect(await depart(b, { stamp: copied })).toEqual({ kind: 'changed' });
        copied = promisedBy(await stampOf(b));
      };
      await rate(early.id, 'good');
      const late = await giveReceipt(b, lane);
      await rate(late.id, 'bad');
      await rate(late.id, 'good');
      b.tools.advance(1_000);
      const last = await giveReceipt(b, lane);
      await rate(last.id, 'bad');
      await b.ledger.receipts.judge(TENANT, last.id, { outcome: 'good', now: b.tools.now() });
      await rate(late.id, 'bad');
      expectKind(await depart(b, { stamp: copied }), 'departed');
    });

    it('is void once work of the owner is no longer kept back', async () => {
      const b = bench();
      await aLife(b);
      const leave = (until: number) => b.ledger.departures.leave(TENANT, ANN, { until, now: b.tools.now() });
      await leave(b.tools.now() + 60_000);
      const stamp = await stampOf(b);
      await leave(0);
      expect(await depart(b, { stamp })).toEqual({ kind: 'changed' });
    });

    it('is not for owners of a cell that is given up: nobody comes, and no work begins', async () => {
      const b = bench();
      await store(b);
      const { departures } = b.ledger;
      expect(await departures.givenUpAt()).toBeNull();
      const at = b.tools.now();
      await departures.giveUp(at);
      await departures.giveUp(at + 1);
      expect(await (await b.reopened()).departures.givenUpAt()).toBe(at);
      const bob = newBatch(b.tools, { scope: scope({ userId: 'bob' }) });
      await expect(append(b, bob)).rejects.toMatchObject({ code: 'owner_away' });
      b.tools.advance(86_400_000);
      const { id: lane, generation } = await laneOf(b);
      expect(await claim(b, { lane, generation })).toMatchObject({ kind: 'not_due' });
    });

    it('is no erasure, and finds none to leave', async () => {
      const b = bench();
      await store(b);
      await depart(b);
      const id = await removalOf(b);
      expect(await b.ledger.erasures.get(TENANT, id)).toBeNull();
      await store(b, { scope: scope({ userId: 'bob' }) });
      const stamp = await stampOf(b, user('bob'));
      await request(b, user('bob'));
      expect(await depart(b, { owner: user('bob'), stamp })).toEqual({ kind: 'gone' });
    });

    it('waits for replays that work on batches of the owner', async () => {
      const b = bench();
      const { batchId } = await aLife(b);
      const waitsFor = () => b.ledger.departures.leave(TENANT, ANN, { until: 0, now: b.tools.now() });
      expect(await waitsFor()).toEqual([]);
      const id = b.tools.id('rpl');
      await b.ledger.replays.create({
        ...{ id, tenant: TENANT, kind: 'what_if', filter: { states: ['consolidated'] }, changes: {}, matched: 1 },
        ...{ batchIds: [batchId], idempotency: null, now: b.tools.now() },
      });
      expect((await waitsFor())?.[0]).toContain(id);
      expect(await depart(b)).toMatchObject({ kind: 'busy' });
      await b.ledger.replays.move(id, { from: 'preparing', to: 'done', dueAt: null, result: {} });
      expectKind(await depart(b), 'departed');
    });
  });
}

/** Three appends and a departure of one owner at once, in another order each round; and what became of each. */
async function raced(b: Bench, round: number) {
  const owner = user(`racer ${round}`);
  const given = { scope: scope({ userId: owner.id }) };
  const { batch: before } = await store(b, given);
  const stamp = await stampOf(b, owner);
  const racing: (() => Promise<{ readonly kind: string }>)[] = Array.from(
    { length: 3 },
    () => () => append(b, newBatch(b.tools, given)),
  );
  racing.splice(round % 4, 0, () => depart(b, { owner, stamp }));
  const ended = await Promise.allSettled(racing.map((one) => one()));
  const kinds = ended.map((one) =>
    one.status === 'fulfilled' ? one.value.kind : (one.reason as { readonly code: string }).code,
  );
  return { owner, before, kinds };
}

const trailEntry = ({ tools }: Bench, userId: string) => ({
  ...{ id: tools.id('aud'), tenant: TENANT, at: tools.now(), by: 'key_1', session: false, action: 'GET /v1/users/:id' },
  ...{ subject: { kind: 'user', id: userId }, status: 200, code: null, requestId: 'req-1', ownerHash: null },
});

import { type LaneId, type Memory, type NewReceipt, type Owner, ownerBitsOfLane, type Receipt } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { added, confirmed, deleted, home, retracted, scope, updated, user } from './builders.ts';
import {
  ALL,
  ANN,
  apply,
  type Bench,
  claimedBatch,
  expectThere,
  laneOf,
  OTHER_TENANT,
  SECOND,
  store,
  TENANT,
  write,
} from './ledger-bench.ts';
import { create, notices, oneMemory } from './ledger-bench-webhooks.ts';

export function describeReceipts(bench: () => Bench): void {
  describe('a receipt', () => {
    it('comes back as it was made, also later, for its tenant alone', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const plain = await append(b, memory.lane);
      const full = await append(b, memory.lane, {
        ...{ route: 'context', ownApp: true, asOf: 5, position: 7, question: 'Où "est" Ann? 日本' },
        scope: { userId: 'ann', agentId: 'g"1', runId: 'r', appId: 'a' },
        filters: { AND: [{ metadata: { place: "o'\u0000\ud800" } }] },
        told: [memoryTold(memory), { kind: 'message', id: 'of another shape' }, memoryTold(memory, 300)],
      });
      const { receipts } = await b.reopened();
      expect(await receipts.get(TENANT, plain.id)).toEqual({ ...plain, outcome: null });
      expect(await receipts.get(TENANT, full.id)).toEqual({ ...full, outcome: null });
      expect(await receipts.get(OTHER_TENANT, full.id)).toBeNull();
      expect(await receipts.get(TENANT, 'rcp_none')).toBeNull();
    });

    it('of an agent or a run has the ids that only filtered', async () => {
      const b = bench();
      for (const [owner, ids] of [
        [
          { kind: 'agent', id: 'g1' },
          { agentId: 'g1', runId: 'r1' },
        ],
        [
          { kind: 'run', id: 'r1' },
          { runId: 'r1', appId: 'a1' },
        ],
      ] as const satisfies [Owner, Partial<Receipt['scope']>][]) {
        const lane = await b.ledger.memories.laneOf(TENANT, owner, b.tools.now());
        const { id, scope: asked } = await append(b, lane, { scope: scope(ids) });
        expect((await b.ledger.receipts.get(TENANT, id))?.scope).toEqual(asked);
      }
    });

    it('is there once, however often it is sent', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const receipt = await append(b, memory.lane);
      await b.ledger.receipts.append([{ ...receipt, question: 'another' }, receiptOf(b, memory.lane)]);
      await b.ledger.receipts.append([]);
      expect((await b.ledger.receipts.get(TENANT, receipt.id))?.question).toBe(receipt.question);
    });

    it('is written with others of its lane alone', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const bob = await b.ledger.memories.laneOf(TENANT, user('bob'), b.tools.now());
      const both = [receiptOf(b, memory.lane), receiptOf(b, bob)];
      await expect(b.ledger.receipts.append(both)).rejects.toThrow('expected receipts of one lane, got those of 2');
      expect(await Promise.all(both.map(({ id }) => b.ledger.receipts.get(TENANT, id)))).toEqual([null, null]);
    });

    it('is found by each memory that it told, and with a question among all, newest first', async () => {
      const b = bench();
      const [one, other] = [(await oneMemory(b)).memory, (await oneMemory(b)).memory];
      const both = await append(b, one.lane, { told: [memoryTold(other), memoryTold(one)] });
      const first = await append(b, one.lane, { told: [memoryTold(one, 2), { kind: 'message', id: 'msg_1' }] });
      await append(b, one.lane);
      const found = async (id: string, tenant = TENANT) => idsOf(await b.ledger.receipts.ofMemory(tenant, id, ALL));
      expect(await found(one.id)).toEqual([first.id, both.id]);
      expect(await found(other.id)).toEqual([both.id]);
      expect([await found('mem_none'), await found(one.id, OTHER_TENANT)]).toEqual([[], []]);
      const page = await b.ledger.receipts.ofMemory(TENANT, one.id, { limit: 1, cursor: null });
      expect(idsOf(page)).toEqual([first.id]);
      const rest = await b.ledger.receipts.ofMemory(TENANT, one.id, { limit: 1, cursor: page.nextCursor });
      expect([idsOf(rest), rest.nextCursor]).toEqual([[both.id], null]);
      await append(b, one.lane, { question: null });
      const [newest, ...older] = await b.ledger.receipts.asked(3);
      expect([newest?.told, ...older]).toEqual([[], ...[first, both].map((known) => ({ ...known, outcome: null }))]);
    });

    it('goes when it is old, some at a time', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const old = [await append(b, memory.lane), await append(b, memory.lane), await append(b, memory.lane)];
      const kept = await append(b, memory.lane);
      expect(await b.ledger.receipts.drop(old[0]?.at ?? 0, 10)).toBe(0);
      expect(await b.ledger.receipts.drop(kept.at, 2)).toBe(2);
      expect(await b.ledger.receipts.drop(kept.at, 2)).toBe(1);
      const left = await Promise.all([...old, kept].map(({ id }) => b.ledger.receipts.get(TENANT, id)));
      expect(left.map((receipt) => receipt?.id ?? null)).toEqual([null, null, null, kept.id]);
    });

    it('is out of reach as soon as its owner is being erased, goes with the owner, and does not come late', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const receipt = await append(b, memory.lane, { told: [memoryTold(memory)] });
      await b.ledger.receipts.judge(TENANT, receipt.id, { outcome: 'good', now: b.tools.now() });
      const bob = await b.ledger.memories.laneOf(TENANT, user('bob'), b.tools.now());
      const others = await append(b, bob, { scope: scope({ userId: 'bob' }) });
      const { id } = await b.ledger.erasures.request(TENANT, ANN, {
        id: b.tools.id('ers'),
        ownerHash: 'h',
        now: b.tools.now(),
      });
      expect(await b.ledger.receipts.get(TENANT, receipt.id)).toBeNull();
      expect((await b.ledger.receipts.asked(9)).map((one) => one.id)).toEqual([others.id]);
      expect(await b.ledger.receipts.judge(TENANT, receipt.id, { outcome: 'bad', now: b.tools.now() })).toBeNull();
      expect(idsOf(await b.ledger.receipts.ofMemory(TENANT, memory.id, ALL))).toEqual([]);
      while ((await b.ledger.erasures.slice(id, 10)).more);
      const late = await append(b, memory.lane);
      await b.ledger.erasures.forgetOwner(id);
      await append(b, memory.lane);
      expect((await b.ledger.erasures.get(TENANT, id))?.counts).toMatchObject({ receipts: 1 });
      expect(await b.ledger.receipts.get(TENANT, late.id)).toBeNull();
      expect(await b.ledger.receipts.credits([memory.id])).toEqual([]);
      expect(await b.ledger.receipts.get(TENANT, others.id)).not.toBeNull();
    });

    it('knows how far the ledger had come by what its lane shows', async () => {
      const b = bench();
      await store(b);
      const one = await laneOf(b);
      await store(b);
      expect([one.lastMessage, (await laneOf(b)).lastMessage]).toEqual([1, 2]);
    });
  });

  describe('a receipt of very much that was told', () => {
    it('comes back whole, and is found, blanked, credited, retracted and dropped by the last of it as by the first', async () => {
      const b = bench();
      await create(b, { events: ['memory.retracted'] });
      const [first, last] = [(await oneMemory(b)).memory, (await oneMemory(b)).memory];
      const others: Receipt['told'] = Array.from({ length: 300 }, () => ({
        ...{ kind: 'message', id: b.tools.id('msg', ownerBitsOfLane(first.lane)) },
      }));
      const told = [memoryTold(first), ...others, memoryTold(last, 300)];
      const receipt = await append(b, first.lane, { told });
      const { id } = await append(b, first.lane, { told: [memoryTold(first)] });
      const { receipts } = b.ledger;
      expect(await receipts.get(TENANT, receipt.id)).toEqual({ ...receipt, outcome: null });
      expect(await receipts.ofMemory(TENANT, last.id, { limit: 1, cursor: null })).toEqual({
        ...{ results: [{ ...receipt, outcome: null }], nextCursor: null },
      });
      expect(idsOf(await receipts.ofMemory(TENANT, first.id, ALL))).toEqual([id, receipt.id]);
      expect((await receipts.judge(TENANT, receipt.id, { outcome: 'bad', now: 1 }))?.told).toEqual(told);
      expect(await creditsOf(b, last)).toMatchObject([{ version: 300, bad: 387 }]);
      await write(b, deleted(b.tools, last));
      expect(await receipts.get(TENANT, receipt.id)).toMatchObject({ told, question: null });
      expect((await receipts.get(TENANT, id))?.question).not.toBeNull();
      expect((await notices(b)).map(({ data }) => data.receipt_ids)).toEqual([[receipt.id]]);
      while ((await receipts.drop(b.tools.now() + 1, 5)) > 0);
      expect(await receipts.get(TENANT, receipt.id)).toBeNull();
    });
  });

  describe('the question of a receipt', () => {
    const asked = { question: 'Does she have cancer?', filters: { metadata: { about: 'cancer' } } };
    const questionsOf = async ({ ledger }: Bench, ...receipts: readonly NewReceipt[]) => {
      const found = await Promise.all(receipts.map(({ id }) => ledger.receipts.get(TENANT, id)));
      return found.map((receipt) => [expectThere(receipt).question, expectThere(receipt).filters]);
    };
    const KEPT = [asked.question, asked.filters];
    const BLANK = [null, null];

    it('goes once something is deleted that the answer told, and nobody else’s', async () => {
      const b = bench();
      const [one, other] = [(await oneMemory(b)).memory, (await oneMemory(b)).memory];
      const receipts = [
        await append(b, one.lane, { ...asked, told: [memoryTold(other), memoryTold(one)] }),
        await append(b, one.lane, { ...asked, told: [memoryTold(other)] }),
        await append(b, one.lane, { ...asked, told: [] }),
        await append(b, one.lane, { ...asked, question: null, told: [memoryTold(one)] }),
      ];
      await write(b, deleted(b.tools, one));
      expect(await questionsOf(b, ...receipts)).toEqual([BLANK, KEPT, KEPT, BLANK]);
    });

    it('goes once all of a memory is undone, and stays where it is only changed', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const receipt = await append(b, memory.lane, { ...asked, told: [memoryTold(memory)] });
      const change = updated(b.tools, memory, { text: 'Lives in Oslo' });
      await write(b, change);
      expect(await questionsOf(b, receipt)).toEqual([KEPT]);
      await write(b, retracted(b.tools, change.memory, { retracts: [1, 2] }));
      expect(await questionsOf(b, receipt)).toEqual([BLANK]);
    });

    it('is not kept where the receipt comes after the deletion', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      await write(b, deleted(b.tools, memory));
      const late = await append(b, memory.lane, { ...asked, told: [memoryTold(memory)] });
      expect(await questionsOf(b, late)).toEqual([BLANK]);
    });

    it('goes from all answers of an owner once very many memories are deleted together', async () => {
      const b = bench();
      const memories: Memory[] = [];
      for (let i = 0; i < 15; i += 1) memories.push((await oneMemory(b)).memory);
      const kept = (await oneMemory(b)).memory;
      const bob = await b.ledger.memories.laneOf(TENANT, user('bob'), b.tools.now());
      const first = await append(b, kept.lane, { ...asked, told: [memoryTold(kept)] });
      const told = await Promise.all(
        memories.map((memory) => append(b, memory.lane, { ...asked, told: [memoryTold(kept), memoryTold(memory)] })),
      );
      const others = await append(b, bob, { ...asked, scope: scope({ userId: 'bob' }) });
      await write(b, ...memories.map((memory) => deleted(b.tools, memory)));
      expect(await questionsOf(b, first, ...told, others)).toEqual([BLANK, ...told.map(() => BLANK), KEPT]);
    });

    it('goes from each of very many receipts', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const many = Array.from({ length: 1_100 }, () =>
        receiptOf(b, memory.lane, { ...asked, told: [memoryTold(memory)] }),
      );
      await b.ledger.receipts.append(many);
      await write(b, deleted(b.tools, memory));
      const left = await questionsOf(b, ...many);
      expect(left.filter(([question]) => question !== null)).toEqual([]);
    });
  });

  describe('the outcome of an answer', () => {
    it('is credited to what was told, the first most; again and taken back leave what is said last', async () => {
      const b = bench();
      const [one, other] = [(await oneMemory(b)).memory, (await oneMemory(b)).memory];
      const receipt = await append(b, one.lane, {
        told: [memoryTold(one), { kind: 'message', id: 'msg_1' }, memoryTold(other, 4)],
      });
      const judged = (outcome: Receipt['outcome']) =>
        b.ledger.receipts.judge(TENANT, receipt.id, { outcome, now: b.tools.now() });
      expect((await judged('good'))?.outcome).toBe('good');
      await judged('good');
      expect(await creditsOf(b, one, other)).toEqual([
        { memoryId: one.id, version: 1, good: 613, bad: 0 },
        { memoryId: other.id, version: 4, good: 387, bad: 0 },
      ]);
      await judged('bad');
      expect(await creditsOf(b, one)).toEqual([{ memoryId: one.id, version: 1, good: 0, bad: 613 }]);
      expect((await judged(null))?.outcome).toBeNull();
      expect(await creditsOf(b, one, other)).toMatchObject([
        { good: 0, bad: 0 },
        { good: 0, bad: 0 },
      ]);
    });

    it('adds up over answers, by version, and passes over what is gone', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      for (const told of [[memoryTold(memory)], [memoryTold(memory), { kind: 'memory', id: 'mem_none', version: 1 }]]) {
        const { id } = await append(b, memory.lane, { told: told as Receipt['told'] });
        await b.ledger.receipts.judge(TENANT, id, { outcome: 'good', now: b.tools.now() });
      }
      const { id } = await append(b, memory.lane, { told: [memoryTold(memory, 2), memoryTold(memory, 2)] });
      await b.ledger.receipts.judge(TENANT, id, { outcome: 'bad', now: b.tools.now() });
      expect(await creditsOf(b, memory)).toEqual([
        { memoryId: memory.id, version: 1, good: 1_613, bad: 0 },
        { memoryId: memory.id, version: 2, good: 0, bad: 1_000 },
      ]);
      expect(await b.ledger.receipts.credits(['mem_none'])).toEqual([]);
    });

    it('is read with the memories that a consolidation left to project', async () => {
      const b = bench();
      const { turn } = await claimedBatch(b);
      const { memory, ...born } = added(b.tools, home(turn.lane));
      await apply(b, turn, { changes: [{ memory, ...born }] });
      const { id } = await append(b, turn.lane, { told: [memoryTold(memory)] });
      await b.ledger.receipts.judge(TENANT, id, { outcome: 'good', now: b.tools.now() });
      const { credits } = await b.ledger.outbox.ofConsolidation(turn, null);
      expect(credits).toMatchObject([{ memoryId: memory.id, version: 1, good: 1_000, bad: 0 }]);
    });

    it('is nobody’s of another tenant', async () => {
      const b = bench();
      const { memory } = await oneMemory(b);
      const { id } = await append(b, memory.lane, { told: [memoryTold(memory)] });
      expect(await b.ledger.receipts.judge(OTHER_TENANT, id, { outcome: 'bad', now: b.tools.now() })).toBeNull();
      expect(await creditsOf(b, memory)).toEqual([]);
    });
  });

  describe('a webhook for what is retracted', () => {
    const retractions = async (b: Bench) =>
      (await notices(b)).filter(({ type }) => type === 'memory.retracted').map(({ data }) => data);

    it('is notified which answers told what was corrected, deleted or undone, and no texts', async () => {
      const b = bench();
      await create(b, { events: ['memory.updated', 'memory.retracted'] });
      const { memory } = await oneMemory(b);
      const first = await append(b, memory.lane, { told: [memoryTold(memory)] });
      const second = updated(b.tools, memory, { text: 'Lives in Oslo' });
      b.tools.advance(SECOND);
      await write(b, second);
      expect(await retractions(b)).toEqual([
        {
          ...{ memory_id: memory.id, revision: 2, why: 'corrected', receipt_ids: [first.id], more: false },
          ...{ user_id: 'ann', agent_id: null, run_id: null, app_id: null },
        },
      ]);
      const later = await append(b, memory.lane, { told: [memoryTold(memory, 2)] });
      await append(b, memory.lane);
      b.tools.advance(SECOND);
      const third = deleted(b.tools, second.memory);
      await write(b, third);
      const ended = (await retractions(b)).at(-1);
      expect(ended).toMatchObject({ why: 'deleted', receipt_ids: [later.id, first.id] });
    });

    it('is notified of an undo by the receipts that told what was undone alone', async () => {
      const b = bench();
      await create(b, { events: ['memory.retracted'] });
      const { memory } = await oneMemory(b);
      await append(b, memory.lane, { told: [memoryTold(memory)] });
      const second = updated(b.tools, memory, { text: 'Lives in Oslo' });
      await write(b, second);
      const wrong = await append(b, memory.lane, { told: [memoryTold(memory, 2)] });
      b.tools.advance(SECOND);
      await write(b, withPrevious(retracted(b.tools, second.memory, { retracts: [2] }), 'Lives in Oslo'));
      expect((await retractions(b)).at(-1)).toMatchObject({ why: 'corrected', receipt_ids: [wrong.id] });
    });

    it('is notified of each of very many memories that are deleted together', async () => {
      const b = bench();
      await create(b, { events: ['memory.retracted'] });
      const memories: Memory[] = [];
      for (let i = 0; i < 12; i += 1) memories.push((await oneMemory(b)).memory);
      const [first, second] = memories.map(expectThere);
      const { lane } = expectThere(first);
      const told = await append(b, lane, { told: [memoryTold(expectThere(first)), memoryTold(expectThere(second))] });
      await append(b, lane);
      await write(b, ...memories.map((memory) => deleted(b.tools, memory)));
      const named = (await retractions(b)).map((data) => [data.memory_id, data.receipt_ids]);
      expect(named.sort()).toEqual([first?.id, second?.id].sort().map((id) => [id, [told.id]]));
    });

    it('hears nothing of what nobody was told, is said again, or does not want to hear', async () => {
      const b = bench();
      await create(b, { events: ['memory.updated', 'memory.deleted'] });
      const other = await create(b, { events: ['memory.retracted'], userId: 'bob' });
      const { memory } = await oneMemory(b);
      await append(b, memory.lane, { told: [memoryTold(memory)] });
      await write(b, confirmed(b.tools, memory));
      expect(await retractions(b)).toEqual([]);
      await b.ledger.webhooks.change(TENANT, other.id, { userId: null }, b.tools.now());
      const untold = (await oneMemory(b)).memory;
      await write(b, deleted(b.tools, untold));
      expect(await retractions(b)).toEqual([]);
    });
  });
}

const memoryTold = ({ id }: Pick<Memory, 'id'>, version = 1) => ({ kind: 'memory', id, version }) as const;

function receiptOf({ tools }: Bench, lane: LaneId, given: Partial<NewReceipt> = {}): NewReceipt {
  tools.advance(SECOND);
  return {
    ...{ id: tools.id('rcp', ownerBitsOfLane(lane)), tenant: TENANT, lane, at: tools.now(), route: 'search' },
    ...{ scope: scope(), ownApp: false, question: 'Where does she live?', filters: null, asOf: null },
    ...{ position: 1, told: [] },
    ...given,
  };
}

export async function append(b: Bench, lane: LaneId, given: Partial<NewReceipt> = {}): Promise<NewReceipt> {
  const receipt = receiptOf(b, lane, given);
  await b.ledger.receipts.append([receipt]);
  return receipt;
}

const idsOf = ({ results }: { readonly results: readonly Receipt[] }): string[] => results.map(({ id }) => id);

const creditsOf = async ({ ledger }: Bench, ...memories: readonly Memory[]) =>
  (await ledger.receipts.credits(memories.map(({ id }) => id)))
    .map(({ at: _, ...credit }) => credit)
    .sort((a, b) => a.memoryId.localeCompare(b.memoryId) || a.version - b.version);

/** As the engine writes an undo: with what held before it. */
const withPrevious = (change: ReturnType<typeof retracted>, previous: string) => ({
  ...change,
  events: change.events.map((event) => ({ ...event, previous })),
});

import {
  canonical,
  DEFAULT_TENANT,
  evolve,
  type LaneId,
  type Ledger,
  liveVersion,
  type Memory,
  type MemoryEvent,
  type Plan,
  saidIds,
  standsOn,
} from '@slowwave/engine';
import { expect } from 'vitest';
import { expectConserved } from './ledger-bench.ts';
import { expectNoOverlap, expectSound } from './soundness.ts';

const TENANT = DEFAULT_TENANT;
/** More than any test stores. */
const ALL = { limit: 10_000, cursor: null };

/**
 * What must be true of a ledger at rest, whatever happened before: every batch ended, batches are conserved, every plan
 * is sound, every memory is what its events make of it and belongs to one lane with all that it came from.
 */
export async function expectTrue(ledger: Ledger): Promise<void> {
  await expectConserved(ledger, TENANT);
  const { results: batches } = await ledger.batches.list(TENANT, {}, ALL);
  const ended = ['consolidated', 'empty', 'parked', 'undone'];
  for (const { id, state } of batches) expect(ended, `batch ${id}`).toContain(state);
  const laneOfBatch = new Map(batches.map(({ id, lane }) => [id, lane]));
  const memories = await ledger.memories.every(null, ALL.limit);
  const histories = new Map<string, readonly MemoryEvent[]>();
  for (const memory of memories) {
    const { results: events } = await ledger.memories.history(TENANT, memory.id, ALL);
    histories.set(memory.id, events);
    expectReplayed(memory, events);
    expectNoOverlap(memory);
    await expectFoundByIds(ledger, memory);
    await expectOwn(ledger, memory, { events, laneOfBatch });
  }
  expectStanding(memories);
  await expectPlansSound(ledger, memories, histories);
}

/** What was concluded is shown only on living evidence. */
function expectStanding(memories: readonly Memory[]): void {
  const known = new Map(memories.map((memory) => [memory.id, memory]));
  for (const memory of memories) {
    const concluded = liveVersion(memory)?.details.concluded;
    if (concluded !== undefined)
      expect(
        standsOn(concluded, (id) => known.get(id)),
        memory.id,
      ).toBe(true);
  }
}

/** Replaying the events from nothing gives the memory bit for bit; ledgers keep keys in orders of their own. */
function expectReplayed(memory: Memory, events: readonly MemoryEvent[]): void {
  expect(events.map(({ revision }) => revision)).toEqual(events.map((_, i) => i + 1));
  const { tenant, lane, owner, scope } = memory;
  const replayed = evolve({ tenant, lane, owner, scope }, null, events);
  expect(canonical(replayed)).toBe(canonical(memory));
}

/** The ids it is looked for by are those that it was said under. */
async function expectFoundByIds(ledger: Ledger, memory: Memory): Promise<void> {
  const stored = await ledger.saidIds.of(TENANT, memory.id);
  expect(stored.map(canonical).sort()).toEqual(saidIds(memory).map(canonical).sort());
}

interface Came {
  readonly events: readonly MemoryEvent[];
  readonly laneOfBatch: ReadonlyMap<string, LaneId>;
}

/** Nothing of another lane stands behind a memory. */
async function expectOwn(ledger: Ledger, memory: Memory, { events, laneOfBatch }: Came): Promise<void> {
  const sources = await ledger.memories.messages(
    TENANT,
    events.flatMap(({ sourceIds }) => sourceIds),
  );
  for (const { batchId } of sources.values()) expect(laneOfBatch.get(batchId)).toBe(memory.lane);
  for (const { consolidationId, sourceIds, actor } of events) {
    // What a person approved that nobody said, such as what most users of an agent talk about, has no sources.
    if (actor !== 'consolidation' && (actor !== 'review' || consolidationId === null)) continue;
    expect(sourceIds.length, 'every event of a consolidation names its sources').toBeGreaterThan(0);
    for (const id of sourceIds) expect(sources.has(id), `message ${id}`).toBe(true);
    expect((await ledger.thoughts.get(TENANT, consolidationId ?? ''))?.lane).toBe(memory.lane);
  }
}

async function expectPlansSound(
  ledger: Ledger,
  memories: readonly Memory[],
  histories: ReadonlyMap<string, readonly MemoryEvent[]>,
): Promise<void> {
  const { results } = await ledger.thoughts.list(TENANT, { state: 'applied' }, ALL);
  for (const { id, scope, lane, removedAt } of results) {
    const plan = await ledger.thoughts.plan(id);
    if (plan === null && removedAt !== undefined) continue; // retention has taken it
    if (plan === null) return expect.unreachable(`consolidation ${id} was applied without a plan`);
    const [one] = memories.filter((memory) => memory.lane === lane);
    const home = one ?? { tenant: TENANT, lane, owner: { kind: 'user' as const, id: scope.userId ?? '' }, scope };
    expectSound(plan, { home: { ...home, scope }, facts: plan.facts, before: asBefore(plan, memories, histories) });
  }
}

/** The memories a plan changes, as they were when it was applied. */
function asBefore(
  plan: Plan,
  memories: readonly Memory[],
  histories: ReadonlyMap<string, readonly MemoryEvent[]>,
): Map<string, Memory> {
  const first = new Map(plan.events.toReversed().map(({ memoryId, revision }) => [memoryId, revision]));
  const changed = memories.filter((memory) => (first.get(memory.id) ?? 1) > 1);
  return new Map(
    changed.map((memory) => {
      const earlier = (histories.get(memory.id) ?? []).filter(({ revision }) => revision < (first.get(memory.id) ?? 0));
      return [memory.id, evolve(memory, null, earlier)];
    }),
  );
}

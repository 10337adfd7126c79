import {
  evolve,
  type Fact,
  type Home,
  holdsAt,
  type Memory,
  type MemoryVersion,
  type Operation,
  type Plan,
} from '@slowwave/engine';
import { expect } from 'vitest';

type Decisions = Pick<Plan, 'outcomes' | 'operations' | 'events'>;

interface Ground {
  readonly home: Home;
  readonly facts: readonly Fact[];
  readonly before: ReadonlyMap<string, Memory>;
}

/**
 * What no answer of a model may break: each fact ends once, with a reason; what it ends as holds when it was said; no
 * memory of another lane is touched; deletions keep the old text. Answers with the memories as the events leave them.
 */
export function expectSound(decisions: Decisions, { home, facts, before }: Ground): Map<string, Memory> {
  const { outcomes, operations, events } = decisions;
  expect(
    outcomes.map(({ fact }) => fact),
    'one outcome per fact, in order',
  ).toEqual(facts.map(({ id }) => id));
  expect(
    operations.map(({ fact, memoryId, revision }) => [fact, memoryId, revision + 1]),
    'one operation per event',
  ).toEqual(events.map(({ factId, memoryId, revision }) => [factId, memoryId, revision]));
  const after = new Map(before);
  for (const fact of facts) {
    for (const event of events.filter(({ factId }) => factId === fact.id)) {
      // Refuses an event that skips a revision.
      after.set(event.memoryId, evolve(home, after.get(event.memoryId) ?? null, [event]));
    }
    expectEnded(decisions, fact, after);
  }
  for (const [id, memory] of before)
    if (memory.lane !== home.lane) expect(after.get(id), 'of another lane').toBe(memory);
  return after;
}

function expectEnded({ outcomes, operations }: Decisions, fact: Fact, after: ReadonlyMap<string, Memory>): void {
  const end = outcomes.find((outcome) => outcome.fact === fact.id);
  const changes = operations.filter((operation) => operation.fact === fact.id);
  expect(end?.reason, `${fact.id} has a reason`).toBeTruthy();
  expect(new Set(changes.map(({ memoryId }) => memoryId)).size, `${fact.id} changes a memory once`).toBe(
    changes.length,
  );
  const deletes = changes.filter(({ event }) => event === 'DELETE');
  for (const { before } of deletes) expect(before, 'a deletion keeps the old text').not.toBeNull();
  // What external content claims changes nothing by itself: it waits for a person, or is known.
  if (fact.trust === 'external' && changes.length === 0) return;
  const [change] = changes.filter(({ event }) => event !== 'DELETE');
  if (end?.outcome === 'DROPPED') expect(change, `${fact.id} was dropped`).toBeUndefined();
  else expectEvent(end?.outcome, change, { fact, memory: after.get(change?.memoryId ?? '') });
}

function expectEvent(
  outcome: string | undefined,
  change: Operation | undefined,
  where: { fact: Fact; memory?: Memory | undefined },
) {
  const { fact, memory } = where;
  expect(change?.event, `${fact.id} has an event`).toBe(outcome);
  const holds = memory !== undefined && holdsAt(memory, fact.saidAt, change?.after ?? '');
  expect(holds, `${fact.id} holds when it was said: ${change?.after}`).toBe(true);
}

/** Versions of a memory never hold at the same time. */
export function expectNoOverlap(memory: Memory): void {
  const spans = memory.versions.map(spanOf).filter(([from, to]) => from !== to);
  const inTime = spans.toSorted(([a], [b]) => a - b);
  for (const [from, to] of inTime) expect(to).toBeGreaterThan(from);
  for (const [i, [from]] of inTime.slice(1).entries()) expect(from).toBeGreaterThanOrEqual(inTime[i]?.[1] ?? 0);
}

const spanOf = ({ validFrom, invalidAt }: MemoryVersion): [number, number] => [
  validFrom,
  invalidAt ?? Number.POSITIVE_INFINITY,
];

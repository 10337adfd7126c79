import type { EngineDeps } from '../deps.ts';
import { FencedError } from '../errors.ts';
import { evolve, tombstoneOf } from '../memories/evolve.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { Nudge } from '../ports/schedule.ts';
import { duePolicy } from '../settings.ts';
import { askedInSlices } from '../slices.ts';
import type { Memory, MemoryEvent } from '../words.ts';
import type { Planned } from './values.ts';

export type AppliedTurn =
  | { readonly kind: 'applied'; readonly next: Nudge | null }
  /** Explicit writes came between: the plan no longer fits, and nothing was changed. */
  | { readonly kind: 'overtaken' };

/** Carries a plan out, in one transaction of the ledger. */
export async function apply(deps: EngineDeps, planned: Planned): Promise<AppliedTurn> {
  const { ledger, tools, settings } = deps;
  const { turn, plan, rules } = planned;
  const now = tools.now();
  // Recorded now, not when it was thought of: only from here on anybody can see it.
  const events = plan.events.map((event) => ({ ...event, recordedAt: now }));
  const ids = [...new Set(events.map((event) => event.memoryId))];
  const known = await askedInSlices(tools, ids, (some) => ledger.memories.many(turn.tenant, some));
  const memories = new Map(known.map((memory) => [memory.id, memory]));
  const eventsOf = Map.groupBy(events, (event) => event.memoryId);
  const changes: (MemoryChange | null)[] = [];
  for (const id of ids) {
    changes.push(changeOf(planned, memories.get(id) ?? null, eventsOf.get(id) ?? []));
    await tools.breathe();
  }
  if (changes.includes(null)) return { kind: 'overtaken' };
  const applied = await ledger.memories.apply(turn, {
    changes: changes.filter((change) => change !== null),
    tombstones: events.flatMap((event) => tombstoneOf(tools, event)),
    reviews: plan.held,
    batches: endings(planned),
    graph: plan.graph === true,
    timings: plan.timings,
    now,
    policy: duePolicy(rules, settings.due),
  });
  if (applied.kind === 'fenced') throw new FencedError(turn.consolidationId);
  return applied.kind === 'conflict' ? { kind: 'overtaken' } : applied;
}

/** null: the memory is no longer the one that was decided on. */
function changeOf({ turn }: Planned, memory: Memory | null, events: MemoryEvent[]): MemoryChange | null {
  const expectedRevision = (events[0]?.revision ?? 1) - 1;
  if ((memory?.revision ?? 0) !== expectedRevision) return null;
  const { tenant, lane, owner, scope } = turn;
  return { memory: evolve({ tenant, lane, owner, scope }, memory, events), expectedRevision, events };
}

/** A batch none of whose messages brought a fact is empty. */
function endings({ turn, messages, plan }: Planned): Map<string, 'consolidated' | 'empty'> {
  const sources = new Set(plan.facts.flatMap((fact) => fact.sourceIds));
  const fruitful = new Set(messages.filter((message) => sources.has(message.id)).map((message) => message.batchId));
  return new Map(turn.batchIds.map((id) => [id, fruitful.has(id) ? 'consolidated' : 'empty']));
}

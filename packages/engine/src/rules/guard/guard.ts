import type { RawOperation } from '../../parse/operations.ts';
import type { Fact, FactOutcome, HeldOperation, Operation, Remark } from '../../plan.ts';
import type { Tombstone } from '../../ports/ledger/memories.ts';
import type { Memory, MemoryEvent } from '../../words.ts';
import { liveVersion, newest } from '../evolve.ts';
import type { Repeat } from '../repeats.ts';
import { Bench, type GuardInput } from './bench.ts';
import { holdsAt } from './holds-at.ts';
import { attribute } from './mem0-shape.ts';

export interface Verdicts {
  readonly operations: readonly Operation[];
  readonly held: readonly HeldOperation[];
  readonly outcomes: readonly FactOutcome[];
  readonly remarks: readonly Remark[];
  readonly events: readonly MemoryEvent[];
}

export interface Wishes {
  /** null: no model was asked. */
  readonly asked: readonly RawOperation[] | null;
  readonly repeats: ReadonlyMap<string, Repeat>;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
}

/**
 * Turns what a model wishes into what will be done. Nothing the model wrote is trusted: each wish is carried out,
 * repaired or refused, with a reason. Invariants: every fact ends with exactly one outcome; a fact is never lost by a
 * deletion; no memory outside the ones shown is touched; whatever changes, changes by an event.
 */
export function guard(input: GuardInput, { asked, repeats, tombstones }: Wishes): Verdicts {
  const bench = new Bench(input);
  const open = input.facts.filter((fact) => !repeats.has(fact.id));
  const raw = asked === null ? [] : attribute(asked, open, input.candidates);
  refuseStrays(bench, raw, new Set(open.map((fact) => fact.id)));
  for (const fact of input.facts) {
    const repeat = repeats.get(fact.id);
    const wishes = raw.filter((operation) => operation.fact === fact.id);
    const outcome =
      repeat !== undefined
        ? confirmRepeat(bench, fact, repeat)
        : tombstones.has(fact.id)
          ? buried(bench, fact)
          : asked === null
            ? add(bench, fact, { text: fact.text, reason: 'nothing near it is known', decidedBy: 'rule' })
            : decided(bench, fact, wishes);
    bench.end(outcome);
  }
  const { operations, held, outcomes, remarks, events } = bench;
  return { operations, held, outcomes, remarks, events };
}

/** Wishes that stand for no fact of this question change nothing. */
function refuseStrays(bench: Bench, raw: readonly RawOperation[], known: ReadonlySet<string>): void {
  for (const wish of raw) {
    if (wish.fact !== null && known.has(wish.fact)) continue;
    if (wish.fact === null && wish.event === 'NONE') continue;
    bench.remarks.push({ asked: describe(wish), did: 'refused: no fact stands behind it' });
  }
}

const describe = (wish: RawOperation): string =>
  `${wish.event ?? 'no event'} ${wish.id ?? ''} for ${wish.fact ?? 'no fact'}`;

interface Reasons {
  readonly text: string;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'];
}

/** A new memory, unless one says exactly this already. */
function add(bench: Bench, fact: Fact, how: Reasons): FactOutcome {
  const same = bench.saying(how.text);
  if (same !== undefined) return say(bench, fact, { ...how, memory: same, reason: 'says the same already' });
  const memory = bench.change(fact, { kind: 'ADD', memoryId: null, ...how });
  bench.memoryOfFact.set(fact.id, memory.id);
  return { fact: fact.id, outcome: 'ADD', reason: how.reason };
}

/** The memory now reads like this: a new version where the words differ from what held when it was said, else a confirmation. */
function say(bench: Bench, fact: Fact, how: Reasons & { readonly memory: Memory }): FactOutcome {
  const { memory, text, reason, decidedBy } = how;
  const changes = !holdsAt(memory, fact.saidAt, text);
  if (changes && newest(memory).details.immutable) {
    bench.remarks.push({
      asked: `UPDATE of ${memory.id} for ${fact.id}`,
      did: 'added beside it: the memory is immutable',
    });
    const added = bench.change(fact, {
      kind: 'ADD',
      memoryId: null,
      text: fact.text,
      reason: 'beside an immutable memory',
      decidedBy: 'guard',
    });
    bench.memoryOfFact.set(fact.id, added.id);
    return { fact: fact.id, outcome: 'ADD', reason: 'beside an immutable memory' };
  }
  const kind = changes ? 'UPDATE' : 'NONE';
  bench.change(fact, { kind, memoryId: memory.id, text, reason, decidedBy });
  bench.memoryOfFact.set(fact.id, memory.id);
  return { fact: fact.id, outcome: kind, reason };
}

function confirmRepeat(bench: Bench, fact: Fact, repeat: Repeat): FactOutcome {
  const memory = bench.memory(repeat.kind === 'memory' ? repeat.memoryId : (bench.memoryOfFact.get(repeat.fact) ?? ''));
  const how: Reasons = { text: fact.text, reason: 'said before in the same words', decidedBy: 'rule' };
  // The fact it repeats was dropped: it goes the same way by being a fact of its own.
  if (memory === undefined) return add(bench, fact, how);
  return say(bench, fact, { ...how, memory });
}

function buried(bench: Bench, fact: Fact): FactOutcome {
  bench.remarks.push({ asked: `ADD of ${fact.id}`, did: 'dropped: the same was deleted after it was said' });
  return { fact: fact.id, outcome: 'DROPPED', reason: 'deleted after it was said' };
}

/** Carries out all wishes for one fact; at the end the fact is kept, unless the user asked to forget. */
function decided(bench: Bench, fact: Fact, wishes: readonly RawOperation[]): FactOutcome {
  let outcome: FactOutcome | null = null;
  const touched = new Set<string>();
  for (const wish of wishes) {
    const memory = bench.resolve(wish.id);
    if (memory !== undefined && touched.has(memory.id)) {
      bench.remarks.push({ asked: describe(wish), did: 'refused: the fact has changed this memory already' });
      continue;
    }
    if (memory !== undefined) touched.add(memory.id);
    const done = carryOut(bench, fact, { wish, memory, settled: outcome !== null });
    outcome ??= done;
  }
  if (outcome !== null) return outcome;
  const forgotten = wishes.some((wish) => wish.event === 'DELETE' && !wish.keep);
  if (forgotten) return { fact: fact.id, outcome: 'DROPPED', reason: 'the user asked to forget' };
  const deleted = wishes.some((wish) => wish.event === 'DELETE');
  if (!deleted) bench.remarks.push({ asked: `nothing usable for ${fact.id}`, did: 'added, so that it is not lost' });
  const reason = deleted ? 'takes the place of what it made untrue' : 'no usable decision for it';
  return add(bench, fact, { text: fact.text, reason, decidedBy: 'guard' });
}

interface Wish {
  readonly wish: RawOperation;
  readonly memory: Memory | undefined;
  /** An earlier wish has given the fact its outcome. */
  readonly settled: boolean;
}

/** One wish; answers with the fact's outcome where the wish gives it one. */
function carryOut(bench: Bench, fact: Fact, { wish, memory, settled }: Wish): FactOutcome | null {
  const reason = wish.reason ?? 'the model decided so';
  const text = wish.text ?? fact.text;
  const event = wish.event ?? (memory === undefined ? 'ADD' : 'UPDATE');
  if (event === 'ADD') return settled ? null : add(bench, fact, { text, reason, decidedBy: 'model' });
  if (memory === undefined) return unknownTarget(bench, fact, { wish, text, settled });
  if (event === 'UPDATE') return update(bench, fact, { memory, text, reason, settled });
  if (event === 'DELETE') return remove(bench, fact, { memory, reason });
  if (settled) return null;
  return say(bench, fact, { memory, text: newest(memory).text, reason, decidedBy: 'model' });
}

/** The wish names a memory that was not shown. Only its fact is kept: as what it is nearest to, where it is no news. */
function unknownTarget(
  bench: Bench,
  fact: Fact,
  { wish, text, settled }: { wish: RawOperation; text: string; settled: boolean },
): FactOutcome | null {
  const ignored = settled || wish.event === 'DELETE';
  bench.remarks.push({ asked: describe(wish), did: `${ignored ? 'refused' : 'repaired'}: no such memory was shown` });
  if (ignored) return null;
  const nearest = bench.input.candidates.find((candidate) => candidate.recalledBy.some((by) => by.fact === fact.id));
  const memory = nearest === undefined ? undefined : bench.memory(nearest.memoryId);
  if (wish.event === 'NONE' && memory !== undefined) {
    return say(bench, fact, { memory, text: newest(memory).text, reason: 'known already', decidedBy: 'guard' });
  }
  return add(bench, fact, { text, reason: 'the memory it was to change is unknown', decidedBy: 'guard' });
}

interface Update {
  readonly memory: Memory;
  readonly text: string;
  readonly reason: string;
  readonly settled: boolean;
}

/** A second memory that would read the same as the first is closed instead: it has been merged. */
function update(bench: Bench, fact: Fact, { memory, text, reason, settled }: Update): FactOutcome | null {
  const twin = settled ? bench.saying(text) : undefined;
  if (twin === undefined || twin.id === memory.id)
    return say(bench, fact, { memory, text, reason, decidedBy: 'model' });
  return remove(bench, fact, { memory, reason: 'merged into another memory' });
}

/** A deletion is never a fact's outcome: what becomes of the fact is settled after all its wishes. */
function remove(bench: Bench, fact: Fact, { memory, reason }: { memory: Memory; reason: string }): null {
  const refusal = refusalOfDelete(bench, memory);
  if (refusal === null) {
    bench.deletes += 1;
    bench.change(fact, { kind: 'DELETE', memoryId: memory.id, text: null, reason, decidedBy: 'model' });
  } else {
    bench.remarks.push({ asked: `DELETE of ${memory.id} for ${fact.id}`, did: `refused: ${refusal}` });
  }
  return null;
}

function refusalOfDelete(bench: Bench, memory: Memory): string | null {
  if (newest(memory).details.immutable) return 'the memory is immutable';
  if (liveVersion(memory) === null) return 'it is deleted already';
  const { deletesMax } = bench.input;
  return bench.deletes < deletesMax ? null : `more than ${deletesMax} deletions in one consolidation`;
}

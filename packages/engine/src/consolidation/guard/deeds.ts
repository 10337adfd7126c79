import { holdsAt, isDeletedAt, liveVersion, newest } from '../../memories/evolve.ts';
import type { Fact, FactOutcome, Operation } from '../../plan.ts';
import { normaliseText } from '../../text/normalise.ts';
import { type Memory, saidBefore } from '../../words.ts';
import type { Bench } from './bench.ts';

/** How a fact is told of a memory, and why. */
export interface Telling {
  readonly text: string;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'];
}

/** A new memory, unless one says exactly this already. */
export function add(bench: Bench, fact: Fact, how: Telling): FactOutcome {
  const same = bench.saying(how.text);
  if (same !== undefined) return say(bench, fact, { ...how, memory: same, reason: 'already known' });
  return addNew(bench, fact, how);
}

/** The memory now reads like this: a new version where the words differ from what held when it was said, else a confirmation. */
export function say(bench: Bench, fact: Fact, how: Telling & { readonly memory: Memory }): FactOutcome {
  const { memory, text, reason, decidedBy } = how;
  const changes = !holdsAt(memory, fact.saidAt, text);
  if (changes && newest(memory).details.immutable && !readsNow(memory, text)) return addBeside(bench, fact, memory);
  const kind = changes ? 'UPDATE' : 'NONE';
  bench.change(fact, { kind, memoryId: memory.id, text, reason, decidedBy });
  return ended(bench, fact, { memoryId: memory.id, outcome: kind, reason });
}

/** Another memory that says already what this one shall say takes it in: never two that read the same. */
export function update(bench: Bench, fact: Fact, how: Telling & { readonly memory: Memory }): FactOutcome | null {
  const { memory, text } = how;
  if (isSettled(bench, fact) && newest(memory).details.immutable) {
    return refuse(bench, `UPDATE of ${memory.id} for ${fact.id}`, 'the memory is immutable');
  }
  const twin = bench.saying(text);
  const isLate = saidBefore(fact.saidAt, newest(memory).saidAt);
  const mayMerge = twin !== undefined && twin.id !== memory.id && !isLate && liveVersion(memory) !== null;
  if (!mayMerge || refusalOfDelete(bench, fact, memory) !== null) return say(bench, fact, how);
  const outcome = hasChanged(bench, fact, twin) ? null : say(bench, fact, { ...how, memory: twin });
  remove(bench, fact, { memory, reason: 'merged into another memory', decidedBy: 'guard' });
  return outcome;
}

/** A deletion is never a fact's outcome: what becomes of the fact is settled by its other wishes. */
export function remove(bench: Bench, fact: Fact, how: Omit<Telling, 'text'> & { readonly memory: Memory }): null {
  const { memory, reason, decidedBy } = how;
  const refusal = refusalOfDelete(bench, fact, memory);
  if (refusal !== null) return refuse(bench, `DELETE of ${memory.id} for ${fact.id}`, refusal);
  bench.deletes += 1;
  bench.change(fact, { kind: 'DELETE', memoryId: memory.id, text: null, reason, decidedBy });
  return null;
}

export function refuse(bench: Bench, asked: string, why: string): null {
  bench.remarks.push({ asked, did: `refused: ${why}` });
  return null;
}

/** Whether the fact has its outcome. */
export const isSettled = (bench: Bench, fact: Fact): boolean => bench.memoryOfFact.has(fact.id);

/** Whether anything was done to the memory for this fact, or waits to be done. */
export const hasChanged = (bench: Bench, fact: Fact, memory: Memory): boolean =>
  bench.memoryOfFact.get(fact.id) === memory.id || bench.hasChanged(fact, memory.id);

function addNew(bench: Bench, fact: Fact, how: Telling): FactOutcome {
  const memory = bench.change(fact, { kind: 'ADD', memoryId: null, ...how });
  return ended(bench, fact, { memoryId: memory.id, outcome: 'ADD', reason: how.reason });
}

/** What must not be changed stays, and the fact stands beside it, unless it stands somewhere already. */
function addBeside(bench: Bench, fact: Fact, memory: Memory): FactOutcome {
  const asked = `UPDATE of ${memory.id} for ${fact.id}`;
  bench.remarks.push({ asked, did: 'repaired: added beside it, for the memory is immutable' });
  const how: Telling = { text: fact.text, reason: 'beside an immutable memory', decidedBy: 'guard' };
  const same = bench.saying(fact.text);
  return same !== undefined && holdsAt(same, fact.saidAt, fact.text)
    ? say(bench, fact, { ...how, memory: same })
    : addNew(bench, fact, how);
}

/** Later facts that name this one mean the memory it ended up in: that of its first wish. */
function ended(bench: Bench, fact: Fact, how: { memoryId: string } & Omit<FactOutcome, 'fact'>): FactOutcome {
  const { memoryId, outcome, reason } = how;
  if (!isSettled(bench, fact)) bench.memoryOfFact.set(fact.id, memoryId);
  return { fact: fact.id, outcome, reason };
}

function refusalOfDelete(bench: Bench, fact: Fact, memory: Memory): string | null {
  if (newest(memory).details.immutable) return 'the memory is immutable';
  // Deleted later only: it still held when this was said, and ends earlier than was known.
  if (isDeletedAt(memory, fact.saidAt)) return 'it is deleted already';
  const { deletesMax } = bench.input;
  return bench.deletes < deletesMax ? null : `more than ${deletesMax} deletions in one consolidation`;
}

function readsNow(memory: Memory, text: string): boolean {
  const live = liveVersion(memory);
  return live !== null && normaliseText(live.text) === normaliseText(text);
}

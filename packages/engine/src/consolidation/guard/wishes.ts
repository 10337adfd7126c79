import { holdsAt, isDeletedAt, liveVersion, newest } from '../../memories/evolve.ts';
import type { RawOperation } from '../../models/parse/listed.ts';
import type { Fact, FactOutcome, Operation } from '../../plan.ts';
import { claimsOf, wordsIn } from '../../text/claims.ts';
import { loopIn } from '../../text/loops.ts';
import { normaliseText, sameText } from '../../text/normalise.ts';
import { hasWord, isMadeOf, shareOf } from '../../text/support.ts';
import { containment, overlap } from '../../text/terms.ts';
import { type EventKind, type Memory, saidBefore } from '../../words.ts';
import type { Bench } from './changes.ts';

/**
 * Carries out all wishes for one fact. Deletions come last: by then the fact has its place, and what it stands on is
 * not deleted. At the end the fact is kept, unless the user asked to forget and that was done.
 */
export function carryOutAll(bench: Bench, fact: Fact, wishes: readonly RawOperation[]): FactOutcome {
  const deletes = wishes.filter((wish) => wish.event === 'DELETE');
  let outcome: FactOutcome | null = null;
  for (const wish of wishes.filter(({ event }) => event !== 'DELETE')) {
    const done = carryOut(bench, fact, wish);
    outcome ??= done;
  }
  const mayForget = outcome === null && asksToForget(bench, fact, deletes);
  if (outcome === null && !mayForget) outcome = keepFact(bench, fact, wishes);
  const about = aboutOf(
    bench,
    deletes.filter(({ keep }) => !keep),
  );
  for (const wish of deletes) removeAsked(bench, fact, { ...wish, forgets: mayForget && !wish.keep });
  if (outcome !== null) return outcome;
  const isForgotten = deletes.some((wish) => !wish.keep && isGone(bench, fact, wish));
  return isForgotten
    ? { fact: fact.id, outcome: 'DROPPED', reason: 'the user asked to forget', wish: true, ...about }
    : keepFact(bench, fact, wishes);
}

/** Only users wish to forget: where none of their words does, a fact goes on beside what is deleted for it. */
function asksToForget(bench: Bench, fact: Fact, deletes: readonly RawOperation[]): boolean {
  const wish = deletes.find(({ keep }) => !keep);
  if (wish === undefined) return false;
  if (bench.input.isOwnWish(fact)) return true;
  repaired(bench, wish, 'kept the fact, because the user did not ask to forget anything');
  return false;
}

/**
 * Carries out a wish to have something forgotten: whatever becomes of it, the wish itself is not remembered. Its words are hidden
 * unless what it is about stays, and for as long as it does.
 */
export function forgetAsked(bench: Bench, fact: Fact, wishes: readonly RawOperation[]): FactOutcome {
  const about = aboutOf(bench, wishes);
  for (const wish of wishes) {
    if (wish.event === 'DELETE') removeAsked(bench, fact, { ...wish, forgets: true });
    else refuse(bench, describe(wish), 'a request to forget may only delete');
  }
  const known = wishes.filter((wish) => wish.event === 'DELETE' && bench.resolve(wish.id) !== undefined);
  const isDone = known.some((wish) => isGone(bench, fact, wish));
  const dropped = { fact: fact.id, outcome: 'DROPPED' } as const;
  const asked = 'the user asked to forget';
  if (isDone) return { ...dropped, reason: asked, wish: true, ...about };
  if (known.length === 0) return { ...dropped, reason: `${asked} something that is not remembered`, wish: true };
  return { ...dropped, reason: `${asked}, but the deletion was refused`, ...about };
}

/** The memories that hold before these wishes are carried out; of one that has ended nothing says whether it is hidden. */
function aboutOf(bench: Bench, wishes: readonly RawOperation[]): Pick<FactOutcome, 'about'> {
  const memories = wishes.flatMap(({ event, id }) => (event === 'DELETE' ? (bench.resolve(id) ?? []) : []));
  const ids = memories.filter((memory) => liveVersion(memory) !== null).map(({ id }) => id);
  return ids.length === 0 ? {} : { about: [...new Set(ids)] };
}

export const describe = ({ event, id, fact }: RawOperation): string =>
  [event ?? 'no event', id === null ? '' : ` ${short(id)}`, ` for ${fact === null ? 'no fact' : short(fact)}`].join('');

/** Long enough for any id there is; what a model makes up can be of any length. */
const SHOWN_MAX = 80;
const short = (text: string): string => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);

/** A model's reasons are a few words; nobody asked for more, and each is kept with its event. */
const REASON_MAX = 300;
const reasonOf = ({ reason }: RawOperation): string => reason?.slice(0, REASON_MAX) ?? 'the model decided so';

/** One wish that is no deletion; answers with the fact's outcome where the wish gives it one. */
function carryOut(bench: Bench, fact: Fact, wish: RawOperation): FactOutcome | null {
  const memory = bench.resolve(wish.id);
  const event = eventOf(bench, wish, memory);
  const how = { reason: reasonOf(wish), decidedBy: 'model' } as const;
  if (event !== 'UPDATE' && hasOutcome(bench, fact))
    return refuse(bench, describe(wish), 'the fact is already settled');
  if (event === 'ADD') return add(bench, fact, { ...how, text: fact.text });
  if (memory === undefined) return unknownTarget(bench, fact, { wish, event });
  if (hasChanged(bench, fact, memory)) return refuse(bench, describe(wish), 'the fact has already changed this memory');
  if (event === 'UPDATE') return changeAsked(bench, fact, { ...how, wish, memory });
  if (isKnownBy(bench, fact, memory)) return say(bench, fact, { ...how, memory, text: newest(memory).text });
  repaired(bench, wish, 'added, because this memory was not recalled for the fact');
  return add(bench, fact, { text: fact.text, reason: 'confirms no recalled memory', decidedBy: 'guard' });
}

function eventOf(bench: Bench, wish: RawOperation, memory: Memory | undefined): EventKind {
  if (wish.event !== null) return wish.event;
  const event = memory !== undefined && wish.text !== null ? 'UPDATE' : 'ADD';
  repaired(bench, wish, `treated as ${event}, because it names an unknown event`);
  return event;
}

/** A text longer than this is not one memory. */
const TEXT_MAX = 4_000;

/**
 * The memory changes to the model's text where that is made of the fact and of the memory. Where it is not, the memory stays and
 * the fact stands beside it: written over the memory it would take with it what it does not say itself. Without a text the fact is
 * the new value of what the memory says, unless that is a list of which it leaves out a part.
 */
function changeAsked(bench: Bench, fact: Fact, how: Asked): FactOutcome | null {
  const { wish, memory, reason, decidedBy } = how;
  const change = (text: string): FactOutcome | null => update(bench, fact, { memory, text, reason, decidedBy });
  const known = newest(memory).text;
  const unusable = unusableText(wish.text);
  if (unusable === null && isMade(bench, fact, how)) return change(wish.text ?? fact.text);
  const problem = unusable ?? MADE_UP;
  if (unusable === null ? containment(known, fact.text) === 1 : !isListBeyond(known, fact.text)) {
    repaired(bench, wish, `used the text of the fact, because ${problem}`);
    return change(fact.text);
  }
  if (hasOutcome(bench, fact)) return refuse(bench, describe(wish), problem);
  repaired(bench, wish, `added the fact as a separate memory, because ${problem}`);
  const because =
    unusable === null ? 'the new text of the memory was made up' : 'no text combines it with the rest of the memory';
  return add(bench, fact, { text: fact.text, reason: because, decidedBy: 'guard' });
}

/** Whether a memory lists several things, and a fact says nothing of one of them. */
function isListBeyond(memory: string, fact: string): boolean {
  const parts = memory.split(AND);
  if (parts.length === 1) return false;
  const said = wordsIn(fact);
  return parts.map(claimsOf).some((part) => {
    const saysSomething = part.words.length + part.runs.length > 0;
    return saysSomething && shareOf(part, [said]) === 0 && !part.names.some((name) => hasWord(said, name));
  });
}

/** What stands between the parts of a list. */
const AND = /\s(?:and|und|et|y|e|и|&)\s|[和与及、]/u;

interface Asked extends Omit<Wording, 'text'> {
  readonly wish: RawOperation;
  readonly memory: Memory;
}

const MADE_UP = 'its text says something that neither the fact nor the memory says';

function unusableText(text: string | null): string | null {
  if (text === null) return 'there is no text';
  const isUsable = text.length <= TEXT_MAX && /[\p{L}\p{N}]/u.test(normaliseText(text));
  return isUsable ? null : 'its text is not usable as a memory';
}

function isMade(bench: Bench, fact: Fact, { wish: { text }, memory }: Asked): boolean {
  if (text === null || text === fact.text) return true;
  const shown = bench.shown.byMemory.get(memory.id)?.text ?? newest(memory).text;
  const others = [fact.text, shown, newest(memory).text];
  const isLoop = loopIn(text) !== null && !others.some((one) => loopIn(one) !== null);
  return !isLoop && isMadeOf(text, others, fact.saidAt.at);
}

/** Words of the fact that stand in the memory already, or an index that found the one for the other. */
function isKnownBy(bench: Bench, fact: Fact, memory: Memory): boolean {
  const shown = bench.shown.byMemory.get(memory.id);
  const isRecalled = shown === undefined || shown.recalledBy.some((recalled) => recalled.fact === fact.id);
  return isRecalled || overlap(fact.text, newest(memory).text) >= LEAST_OVERLAP;
}

/** Less in common than this may be by accident. */
const LEAST_OVERLAP = 0.34;

const UNKNOWN = 'neither this memory nor an earlier fact was shown';

/** The wish names nothing that was shown. Only its fact is kept: as what says all of it, where it is no news. */
function unknownTarget(
  bench: Bench,
  fact: Fact,
  { wish, event }: { wish: RawOperation; event: EventKind },
): FactOutcome | null {
  if (hasOutcome(bench, fact)) return refuse(bench, describe(wish), UNKNOWN);
  const known = event === 'NONE' ? sayingAllOf(bench, fact) : undefined;
  repaired(bench, wish, `${known === undefined ? 'added' : 'confirmed the memory that says it'}, because ${UNKNOWN}`);
  if (known !== undefined) {
    const text = newest(known).text;
    return say(bench, fact, { memory: known, text, reason: 'already known', decidedBy: 'guard' });
  }
  return add(bench, fact, { text: fact.text, reason: 'the memory to change is unknown', decidedBy: 'guard' });
}

/** A memory recalled for the fact in which every word of it stands. */
function sayingAllOf(bench: Bench, fact: Fact): Memory | undefined {
  const recalled = bench.shown.byFact.get(fact.id) ?? [];
  const memories = recalled.flatMap((candidate) => bench.memory(candidate.memoryId) ?? []);
  return memories.find((memory) => {
    const live = liveVersion(memory);
    return live !== null && containment(fact.text, live.text) === 1;
  });
}

function removeAsked(bench: Bench, fact: Fact, wish: RawOperation & { readonly forgets: boolean }): void {
  const memory = bench.resolve(wish.id);
  if (memory === undefined) refuse(bench, describe(wish), wish.id === null ? 'it names no memory' : UNKNOWN);
  else if (hasChanged(bench, fact, memory)) refuse(bench, describe(wish), 'the fact has already changed this memory');
  else remove(bench, fact, { memory, reason: reasonOf(wish), decidedBy: 'model', forgets: wish.forgets });
}

/** What the user wants forgotten was deleted, or was never known. */
function isGone(bench: Bench, fact: Fact, wish: RawOperation): boolean {
  const memory = bench.resolve(wish.id);
  if (memory === undefined) return wish.id === null;
  return isDeletedAt(memory, fact.saidAt) || liveVersion(memory) === null || hasChanged(bench, fact, memory);
}

/** The fact as a memory of its own. */
function keepFact(bench: Bench, fact: Fact, wishes: readonly RawOperation[]): FactOutcome {
  const deletes = wishes.some(({ event }) => event === 'DELETE');
  if (!deletes)
    bench.remarks.push({ asked: `nothing usable for ${fact.id}`, did: 'added, so that the fact is not lost' });
  const reason = deletes ? 'supersedes a memory' : 'no usable decision for it';
  return add(bench, fact, { text: fact.text, reason, decidedBy: 'guard' });
}

const repaired = (bench: Bench, wish: RawOperation, how: string): void => {
  bench.remarks.push({ asked: describe(wish), did: `repaired: ${how}` });
};

/** What a memory is to say, and why. */
export interface Wording {
  readonly text: string;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'];
}

/** A new memory, unless one says exactly this already. */
export function add(bench: Bench, fact: Fact, how: Wording): FactOutcome {
  const same = bench.saying(how.text);
  if (same !== undefined) return say(bench, fact, { ...how, memory: same, reason: 'already known' });
  return addNew(bench, fact, how);
}

/** The memory now reads like this: a new version where the words differ from what held when it was said, else a confirmation. */
export function say(bench: Bench, fact: Fact, how: Wording & { readonly memory: Memory }): FactOutcome {
  const { memory, text, reason, decidedBy } = how;
  const changes = !holdsAt(memory, fact.saidAt, text);
  if (changes && newest(memory).details.immutable && !readsNow(memory, text)) return addBeside(bench, fact, memory);
  const kind = changes ? 'UPDATE' : 'NONE';
  bench.change(fact, { kind, memoryId: memory.id, text, reason, decidedBy });
  return ended(bench, fact, { memoryId: memory.id, outcome: kind, reason });
}

/** Another memory that says already what this one shall say takes it in: never two that read the same. */
function update(bench: Bench, fact: Fact, how: Wording & { readonly memory: Memory }): FactOutcome | null {
  const { memory, text } = how;
  if (hasOutcome(bench, fact) && newest(memory).details.immutable) {
    return refuse(bench, `UPDATE of ${memory.id} for ${fact.id}`, 'the memory is immutable');
  }
  const twin = bench.saying(text);
  const isLate = saidBefore(fact.saidAt, newest(memory).saidAt);
  const mayMerge = twin !== undefined && twin.id !== memory.id && !isLate && liveVersion(memory) !== null;
  if (!mayMerge || refusalOfDelete(bench, fact, memory) !== null) return say(bench, fact, how);
  const outcome = hasChanged(bench, fact, twin) ? null : say(bench, fact, { ...how, memory: twin });
  remove(bench, fact, { memory, reason: 'merged into another memory', decidedBy: 'guard', forgets: false });
  return outcome;
}

/** A deletion is never a fact's outcome: what becomes of the fact follows from its other wishes. */
function remove(bench: Bench, fact: Fact, how: Removal): null {
  const { memory, reason, decidedBy, forgets } = how;
  const refusal = refusalOfDelete(bench, fact, memory);
  if (refusal !== null) return refuse(bench, `DELETE of ${memory.id} for ${fact.id}`, refusal);
  bench.deletes += 1;
  bench.change(fact, { kind: 'DELETE', memoryId: memory.id, text: null, reason, decidedBy, forgets });
  return null;
}

interface Removal extends Omit<Wording, 'text'> {
  readonly memory: Memory;
  /** The user asked for it: what is removed is not only over. */
  readonly forgets: boolean;
}

function refuse(bench: Bench, asked: string, why: string): null {
  bench.remarks.push({ asked, did: `refused: ${why}` });
  return null;
}

const hasOutcome = (bench: Bench, fact: Fact): boolean => bench.memoryOfFact.has(fact.id);

/** Whether anything was done to the memory for this fact, or waits to be done. */
const hasChanged = (bench: Bench, fact: Fact, memory: Memory): boolean =>
  bench.memoryOfFact.get(fact.id) === memory.id || bench.hasChanged(fact, memory.id);

function addNew(bench: Bench, fact: Fact, how: Wording): FactOutcome {
  const memory = bench.change(fact, { kind: 'ADD', memoryId: null, ...how });
  return ended(bench, fact, { memoryId: memory.id, outcome: 'ADD', reason: how.reason });
}

/** What must not be changed stays, and the fact stands beside it, unless it stands somewhere already. */
function addBeside(bench: Bench, fact: Fact, memory: Memory): FactOutcome {
  const asked = `UPDATE of ${memory.id} for ${fact.id}`;
  bench.remarks.push({ asked, did: 'repaired: added a new memory, because this one is immutable' });
  const how: Wording = { text: fact.text, reason: 'the memory to change is immutable', decidedBy: 'guard' };
  const same = bench.saying(fact.text);
  return same !== undefined && holdsAt(same, fact.saidAt, fact.text)
    ? say(bench, fact, { ...how, memory: same })
    : addNew(bench, fact, how);
}

/** Later facts that name this one mean the memory it ended up in: that of its first wish. */
function ended(bench: Bench, fact: Fact, how: { memoryId: string } & Omit<FactOutcome, 'fact'>): FactOutcome {
  const { memoryId, outcome, reason } = how;
  if (!hasOutcome(bench, fact)) bench.memoryOfFact.set(fact.id, memoryId);
  return { fact: fact.id, outcome, reason };
}

function refusalOfDelete(bench: Bench, fact: Fact, memory: Memory): string | null {
  if (newest(memory).details.immutable) return 'the memory is immutable';
  // Deleted later only: it still held when this was said, and ends earlier than was known.
  if (isDeletedAt(memory, fact.saidAt)) return 'it is deleted already';
  const { deletesMax, shared } = bench.input;
  if (shared.has(memory.id)) return 'other apps were told the memory, too';
  return bench.deletes < deletesMax ? null : `more than ${deletesMax} deletions in one consolidation`;
}

function readsNow(memory: Memory, text: string): boolean {
  const live = liveVersion(memory);
  return live !== null && sameText(live.text, text);
}

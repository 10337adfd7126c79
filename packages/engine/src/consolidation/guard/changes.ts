import { eventIdOf, ownerBitsOf } from '../../ids.ts';
import { evolve, type Home, holdsAt, liveVersion, newest, previousOf } from '../../memories/evolve.ts';
import { leastOf } from '../../messages/messages.ts';
import type { Candidate, Fact, FactOutcome, HeldOperation, Operation, Remark, ReviewedKind } from '../../plan.ts';
import type { Tools } from '../../ports/tools.ts';
import { normaliseText, sameText } from '../../text/normalise.ts';
import {
  type EventKind,
  type JsonObject,
  type Memory,
  type MemoryEvent,
  type Millis,
  type OwnerBits,
  underOf,
  type VersionDetails,
} from '../../words.ts';
import { candidatesByFact } from '../recall.ts';

/** What the guard knows before it begins. */
export interface GuardInput {
  readonly home: Home;
  readonly consolidationId: string;
  readonly facts: readonly Fact[];
  readonly candidates: readonly Candidate[];
  readonly memories: ReadonlyMap<string, Memory>;
  readonly metadataOf: (fact: Fact) => JsonObject;
  /** Whether a message it came from addresses the model. */
  readonly isFlagged: (fact: Fact) => boolean;
  /** Whether users asked, in their own words, to have forgotten what a fact is about. */
  readonly isOwnWish: (fact: Fact) => boolean;
  /** Memories that other apps were told, too, where one app decides within its own. */
  readonly shared: ReadonlySet<string>;
  readonly expiresAt: Millis | null;
  readonly deletesMax: number;
  /** Operations of these kinds wait for a person. */
  readonly review: readonly ReviewedKind[];
  /** So does whatever rests on external content, and what that only repeats confirms nothing. */
  readonly externalWaits: boolean;
  /** Memories that additions of earlier consolidations would make, by their words; these wait for a person. */
  readonly waiting: ReadonlyMap<string, string>;
  readonly tools: Tools;
}

/** What an operation asks to be written: the one way in which the guard changes anything. */
interface Change {
  readonly kind: EventKind;
  /** null makes a new memory. */
  readonly memoryId: string | null;
  readonly text: string | null;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'];
  /** Of DELETE alone: a user asked to have it forgotten. */
  readonly forgets?: boolean;
}

/** An event that carries an operation out. */
type DecidedEvent = MemoryEvent & { readonly kind: EventKind };

/**
 * The guard's workbench: memories as they will be after the facts handled so far. A later fact sees what an earlier one
 * of the same consolidation did, and chains onto it, also where that waits for a person. What waits changes nothing: the
 * events build on memories without it, and since only the time of saying orders versions, it can be added at any time.
 *
 *   #world   with everything that waits: what later facts are judged on
 *   #made    without it: what the events make
 */
export class Bench {
  readonly input: GuardInput;
  readonly operations: Operation[] = [];
  readonly outcomes: FactOutcome[] = [];
  readonly remarks: Remark[] = [];
  readonly events: MemoryEvent[] = [];
  readonly held = new Held();
  readonly shown: ReturnType<typeof shownOf>;
  /** Which memory an earlier fact ended up in. */
  readonly memoryOfFact = new Map<string, string>();
  deletes = 0;
  readonly #world: World;
  readonly #made: Map<string, Memory>;
  readonly #changed = new Set<string>();
  /** Memories that external content would make, by their words. */
  readonly #claimed = new Map<string, string>();
  readonly #now: Millis;
  readonly #bits: OwnerBits;

  constructor(input: GuardInput) {
    this.input = input;
    this.shown = shownOf(input.candidates);
    this.#world = new World(input.memories.values());
    this.#made = new Map(input.memories);
    this.#now = input.tools.now();
    this.#bits = ownerBitsOf(input.tools, input.home);
  }

  memory(id: string): Memory | undefined {
    return this.#world.memory(id);
  }

  /** The memory a model's id means: a shown memory, or the one an earlier fact ended up in. */
  resolve(id: string | null): Memory | undefined {
    if (id === null) return undefined;
    return this.memory(this.shown.byShortId.get(id)?.memoryId ?? this.memoryOfFact.get(id) ?? '');
  }

  /** The first live memory this consolidation knows of that says exactly this. */
  saying(text: string): Memory | undefined {
    return this.#world.saying(text);
  }

  /** Whether anything was done to a memory for this fact, or waits to be done. */
  hasChanged(fact: Fact, memoryId: string): boolean {
    return this.#changed.has(changeKey(fact.id, memoryId));
  }

  change(fact: Fact, change: Change): Memory {
    const { home, tools } = this.input;
    const before = change.memoryId === null ? undefined : this.memory(change.memoryId);
    const memoryId = before?.id ?? this.#waitingFor(change) ?? tools.id('mem', this.#bits);
    const event = this.#eventOf(fact, change, { memoryId, before });
    const after = evolve(home, before ?? null, [event]);
    if (this.#isClaim(fact)) {
      this.#leave(fact, change, { event, made: before });
      return before ?? after;
    }
    this.#world.put(after);
    this.#changed.add(changeKey(fact.id, memoryId));
    const made = this.#made.get(memoryId);
    if (this.#waits(fact, change, made)) {
      this.#hold(fact, change, { event, made });
    } else if (made === before) {
      this.#record(change, event, after);
    } else {
      const holds = made !== undefined && change.kind === 'UPDATE' && holdsAt(made, fact.saidAt, change.text ?? '');
      const kind = holds ? 'NONE' : change.kind;
      const apart = this.#eventOf(fact, { ...change, kind }, { memoryId, before: made });
      this.#record(change, apart, evolve(home, made ?? null, [apart]));
    }
    return after;
  }

  #isClaim({ trust }: Fact): boolean {
    return this.input.externalWaits && trust === 'external';
  }

  /**
   * What external content claims is left to a person, and no later fact is judged on it: a user may say the same. What it repeats
   * is not surer for that.
   */
  #leave(fact: Fact, change: Change, what: { event: MemoryEvent; made: Memory | undefined }): void {
    if (change.kind === 'NONE') return;
    this.#changed.add(changeKey(fact.id, what.event.memoryId));
    if (what.made === undefined) this.#claimed.set(normaliseText(change.text ?? ''), what.event.memoryId);
    this.#hold(fact, change, what);
  }

  /** What is said again while it waits is about one memory: whichever is approved first makes it. */
  #waitingFor({ text }: Change): string | undefined {
    const words = normaliseText(text ?? '');
    const memoryId = this.#claimed.get(words) ?? this.input.waiting.get(words);
    return memoryId === undefined || this.memory(memoryId) !== undefined ? undefined : memoryId;
  }

  /** The end of a fact; it says so where something of it waits. */
  end(outcome: FactOutcome): void {
    const waiting = this.held.noteOf(outcome.fact);
    this.outcomes.push(waiting === null ? outcome : { ...outcome, reason: `${outcome.reason}; ${waiting}` });
  }

  #waits(fact: Fact, change: Change, made: Memory | undefined): boolean {
    const { kind, memoryId, text } = change;
    if (kind !== 'NONE' && this.input.review.includes(kind)) return true;
    // The memory is there only once something that waits is approved.
    if (made === undefined) return memoryId !== null;
    if (kind === 'NONE') return !holdsAt(made, fact.saidAt, text ?? '');
    // What takes the place of the deleted waits: until then nothing may be missing.
    return kind === 'DELETE' && this.held.hasOf(fact);
  }

  #hold(fact: Fact, change: Change, { event, made }: { event: MemoryEvent; made: Memory | undefined }): void {
    if (change.kind === 'NONE') {
      this.held.repeat(fact, change.reason, event);
      return;
    }
    this.held.add({
      id: this.input.tools.id('rev', this.#bits),
      kind: made === undefined && change.kind === 'UPDATE' ? 'ADD' : change.kind,
      fact: fact.id,
      factText: fact.text,
      memoryId: event.memoryId,
      before: event.previous,
      after: event.text,
      reason: change.reason,
      decidedBy: change.decidedBy,
      saidAt: event.saidAt,
      validFrom: event.validFrom,
      details: event.details,
      sourceIds: event.sourceIds,
      ...(event.forgets && { forgets: true }),
    });
  }

  #record({ reason, decidedBy }: Change, event: DecidedEvent, after: Memory): void {
    this.#made.set(event.memoryId, after);
    this.events.push(event);
    this.operations.push({
      fact: event.factId ?? '',
      event: event.kind,
      memoryId: event.memoryId,
      revision: event.revision - 1,
      before: event.previous,
      after: event.text,
      reason,
      decidedBy,
    });
  }

  #eventOf(fact: Fact, change: Change, of: { memoryId: string; before: Memory | undefined }): DecidedEvent {
    const says = change.kind !== 'DELETE';
    const revision = (of.before?.revision ?? 0) + 1;
    return {
      id: eventIdOf(of.memoryId, revision),
      memoryId: of.memoryId,
      revision,
      kind: change.kind,
      actor: 'consolidation',
      consolidationId: this.input.consolidationId,
      factId: fact.id,
      reason: change.reason,
      previous: of.before === undefined ? null : previousOf(of.before, change.kind, fact.saidAt),
      saidAt: fact.saidAt,
      validFrom: fact.validFrom,
      recordedAt: this.#now,
      text: says ? change.text : null,
      details: says ? this.#details(fact, change.text ?? fact.text, of.before) : null,
      sourceIds: fact.sourceIds,
      under: underOf(this.input.home.scope),
      ...(change.forgets === true && { forgets: true }),
    };
  }

  /** A memory keeps what callers attached to it; the fact's own details come on top. */
  #details(fact: Fact, text: string, before: Memory | undefined): VersionDetails {
    const kept = before === undefined ? null : newest(before).details;
    return {
      category: fact.category ?? kept?.category ?? null,
      language: fact.language,
      about: fact.about,
      // Other words than the fact's carry on what the memory said before.
      trust: sameText(text, fact.text) ? fact.trust : leastOf([fact.trust, kept?.trust ?? fact.trust]),
      ...(this.input.isFlagged(fact) && { flagged: true as const }),
      quote: fact.quote,
      ...(fact.utcOffset !== undefined && { utcOffset: fact.utcOffset }),
      sourceIds: fact.sourceIds,
      metadata: { ...kept?.metadata, ...this.input.metadataOf(fact) },
      immutable: kept?.immutable ?? false,
      expiresAt: this.input.expiresAt,
    };
  }
}

const changeKey = (fact: string, memoryId: string): string => `${fact} ${memoryId}`;

/** What waits for a person, and the facts that only repeat it. */
class Held {
  readonly operations: HeldOperation[] = [];
  readonly #ofFact = new Map<HeldOperation['fact'], HeldOperation[]>();
  readonly #repeating = new Set<string>();

  hasOf(fact: Fact): boolean {
    return this.#ofFact.has(fact.id);
  }

  add(operation: HeldOperation): void {
    this.operations.push(operation);
    this.#ofFact.set(operation.fact, [...(this.#ofFact.get(operation.fact) ?? []), operation]);
  }

  /** What only repeats something that waits confirms it once it is there: the last that says so, else the last of its memory. */
  repeat({ id: fact }: Fact, reason: string, event: MemoryEvent): void {
    const { memoryId, text: after, saidAt, validFrom, details, sourceIds } = event;
    this.#repeating.add(fact);
    const words = normaliseText(after ?? '');
    const isSaid = (held: HeldOperation): boolean =>
      held.memoryId === memoryId && held.after !== null && normaliseText(held.after) === words;
    const said = this.operations.findLastIndex(isSaid);
    const at = said === -1 ? this.operations.findLastIndex((held) => held.memoryId === memoryId) : said;
    const held = this.operations[at];
    if (held === undefined) return;
    const repeat = { fact, after, reason, saidAt, validFrom, details, sourceIds };
    this.operations[at] = { ...held, repeats: [...(held.repeats ?? []), repeat] };
  }

  /** What of a fact waits, in words; null: nothing. */
  noteOf(fact: string): string | null {
    const kinds = (this.#ofFact.get(fact) ?? []).map(({ kind }) => kind);
    if (kinds.length > 0) return `its ${[...new Set(kinds)].join(' and ')} is waiting for review`;
    return this.#repeating.has(fact) ? 'the fact it repeats is waiting for review' : null;
  }
}

/** Memories as they are after what was decided so far, in the order in which they came; found by id and by what they say. */
class World {
  readonly #memories = new Map<string, Memory>();
  /** What each of them says, normalised; null: nothing. */
  readonly #words = new Map<string, string | null>();
  readonly #saying = new Map<string, Set<string>>();

  constructor(memories: Iterable<Memory>) {
    for (const memory of memories) this.put(memory);
  }

  memory(id: string): Memory | undefined {
    return this.#memories.get(id);
  }

  /** The first live memory that says exactly this. */
  saying(text: string): Memory | undefined {
    const ids = this.#saying.get(normaliseText(text)) ?? new Set();
    if (ids.size === 0) return undefined;
    return [...this.#memories.values()].find(({ id }) => ids.has(id));
  }

  /** A memory as it is from now on, in the place of what it was. */
  put(memory: Memory): void {
    const live = liveVersion(memory);
    const [was = null, is] = [this.#words.get(memory.id), live === null ? null : normaliseText(live.text)];
    if (was !== null) this.#saying.get(was)?.delete(memory.id);
    if (is !== null) this.#saying.set(is, (this.#saying.get(is) ?? new Set()).add(memory.id));
    this.#words.set(memory.id, is);
    this.#memories.set(memory.id, memory);
  }
}

/** What the model was shown: by the short id that it was given for it, by memory, and for each fact in the order of showing. */
function shownOf(candidates: readonly Candidate[]) {
  const reversed = candidates.toReversed(); // of two alike the first counts
  return {
    byShortId: new Map(reversed.map((candidate) => [candidate.shortId, candidate])),
    byMemory: new Map(reversed.map((candidate) => [candidate.memoryId, candidate])),
    byFact: candidatesByFact(candidates),
  };
}

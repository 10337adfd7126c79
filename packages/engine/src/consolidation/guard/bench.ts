import { evolve, type Home, holdsAt, liveVersion, newest, previousOf } from '../../memories/evolve.ts';
import type { Candidate, Fact, FactOutcome, HeldOperation, Operation, Remark, ReviewedKind } from '../../plan.ts';
import type { Tools } from '../../ports/tools.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { EventKind, JsonObject, Memory, MemoryEvent, Millis, VersionDetails } from '../../words.ts';

/** What the guard knows before it begins. */
export interface GuardInput {
  readonly home: Home;
  readonly consolidationId: string;
  readonly facts: readonly Fact[];
  readonly candidates: readonly Candidate[];
  readonly memories: ReadonlyMap<string, Memory>;
  readonly metadataOf: (fact: Fact) => JsonObject;
  /** Whether users asked, in their own words, to have forgotten what a fact is about. */
  readonly isOwnWish: (fact: Fact) => boolean;
  readonly expiresAt: Millis | null;
  readonly deletesMax: number;
  /** Operations of these kinds wait for a person. */
  readonly review: readonly ReviewedKind[];
  readonly tools: Tools;
}

/** What an operation asks to be written: the one way in which the guard changes anything. */
export interface Change {
  readonly kind: EventKind;
  /** null makes a new memory. */
  readonly memoryId: string | null;
  readonly text: string | null;
  readonly reason: string;
  readonly decidedBy: Operation['decidedBy'];
}

/** An event that carries an operation out. */
type DecidedEvent = MemoryEvent & { readonly kind: EventKind };

/**
 * The guard's workbench: memories as they will be after the facts handled so far. A later fact sees what an earlier one
 * of the same consolidation did, and chains onto it, also where that waits for a person. What waits changes nothing: the
 * events build on memories without it, and since only the time of saying orders versions, it can be added at any time.
 */
export class Bench {
  readonly input: GuardInput;
  readonly operations: Operation[] = [];
  readonly held: HeldOperation[] = [];
  readonly outcomes: FactOutcome[] = [];
  readonly remarks: Remark[] = [];
  readonly events: MemoryEvent[] = [];
  /** Which memory an earlier fact ended up in. */
  readonly memoryOfFact = new Map<string, string>();
  deletes = 0;
  /** With everything that waits: what later facts are judged on. */
  readonly #memories: Map<string, Memory>;
  /** Without what waits: what the events make. */
  readonly #made: Map<string, Memory>;
  /** Facts that only repeat something that waits. */
  readonly #joined = new Set<string>();
  readonly #words = new Map<Memory, string | null>();
  /** By what a live memory says: the ids, and which memory came first. */
  readonly #saying = new Map<string, Set<string>>();
  readonly #places = new Map<string, number>();
  readonly #shown: ReadonlyMap<string, Candidate>;
  readonly #shownAs: ReadonlyMap<string, Candidate>;
  readonly #recalledFor = new Map<string, Candidate[]>();
  readonly #changed = new Set<string>();
  readonly #heldOf = new Map<string, HeldOperation[]>();
  readonly #now: Millis;

  constructor(input: GuardInput) {
    this.input = input;
    this.#memories = new Map(input.memories);
    this.#made = new Map(input.memories);
    this.#now = input.tools.now();
    for (const memory of input.memories.values()) this.#hear(memory);
    this.#shown = new Map(input.candidates.toReversed().map((candidate) => [candidate.shortId, candidate]));
    this.#shownAs = new Map(input.candidates.toReversed().map((candidate) => [candidate.memoryId, candidate]));
    for (const candidate of input.candidates) {
      for (const { fact } of candidate.recalledBy) pushTo(this.#recalledFor, fact, candidate);
    }
  }

  memory(id: string): Memory | undefined {
    return this.#memories.get(id);
  }

  /** The memory a model's id means: a shown memory, or the one an earlier fact ended up in. */
  resolve(id: string | null): Memory | undefined {
    if (id === null) return undefined;
    const shown = this.#shown.get(id);
    return this.memory(shown?.memoryId ?? this.memoryOfFact.get(id) ?? '');
  }

  /** A memory as it was shown. */
  shownAs(memoryId: string): Candidate | undefined {
    return this.#shownAs.get(memoryId);
  }

  /** What was recalled for a fact, in the order in which it was shown. */
  recalledFor(fact: Fact): readonly Candidate[] {
    return this.#recalledFor.get(fact.id) ?? [];
  }

  /** Whether anything was done to a memory for this fact, or waits to be done. */
  hasChanged(fact: Fact, memoryId: string): boolean {
    return this.#changed.has(changeKey(fact.id, memoryId));
  }

  /** The first live memory this consolidation knows of that says exactly this. */
  saying(text: string): Memory | undefined {
    const ids = [...(this.#saying.get(normaliseText(text)) ?? [])];
    const [first] = ids.sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
    return first === undefined ? undefined : this.#memories.get(first);
  }

  #placeOf(memoryId: string): number {
    return this.#places.get(memoryId) ?? 0;
  }

  /** Notes down what a memory says from now on, in the place of what it said before. */
  #hear(memory: Memory, before?: Memory): void {
    const [was, is] = [before === undefined ? null : this.#wordsOf(before), this.#wordsOf(memory)];
    if (was !== null) this.#saying.get(was)?.delete(memory.id);
    if (is !== null) this.#saying.set(is, (this.#saying.get(is) ?? new Set()).add(memory.id));
    if (!this.#places.has(memory.id)) this.#places.set(memory.id, this.#places.size);
  }

  /** What a memory says now, to be compared: worked out once, since every fact is held against every memory. */
  #wordsOf(memory: Memory): string | null {
    const known = this.#words.get(memory);
    if (known !== undefined) return known;
    const live = liveVersion(memory);
    const words = live === null ? null : normaliseText(live.text);
    this.#words.set(memory, words);
    return words;
  }

  change(fact: Fact, change: Change): Memory {
    const { home, tools } = this.input;
    const before = change.memoryId === null ? undefined : this.#memories.get(change.memoryId);
    const memoryId = before?.id ?? tools.id('mem');
    const event = this.#eventOf(fact, change, { memoryId, before });
    const after = evolve(home, before ?? null, [event]);
    this.#memories.set(memoryId, after);
    this.#hear(after, before);
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

  /** The end of a fact; it says so where something of it waits. */
  end(outcome: FactOutcome): void {
    const kinds = (this.#heldOf.get(outcome.fact) ?? []).map((held) => held.kind);
    const own = kinds.length === 0 ? null : `its ${[...new Set(kinds)].join(' and ')} waits for review`;
    const waiting = own ?? (this.#joined.has(outcome.fact) ? 'what it repeats waits for review' : null);
    this.outcomes.push(waiting === null ? outcome : { ...outcome, reason: `${outcome.reason}; ${waiting}` });
  }

  #waits(fact: Fact, change: Change, made: Memory | undefined): boolean {
    const { kind, memoryId, text } = change;
    if (kind !== 'NONE' && this.input.review.includes(kind)) return true;
    // The memory is there only once something that waits is approved.
    if (made === undefined) return memoryId !== null;
    if (kind === 'NONE') return !holdsAt(made, fact.saidAt, text ?? '');
    // What takes the place of the deleted waits: until then nothing may be missing.
    return kind === 'DELETE' && this.#heldOf.has(fact.id);
  }

  #hold(fact: Fact, change: Change, { event, made }: { event: MemoryEvent; made: Memory | undefined }): void {
    this.#changed.add(changeKey(fact.id, event.memoryId));
    if (change.kind === 'NONE') {
      this.#joined.add(fact.id);
      this.#repeat(fact, change, event);
      return;
    }
    const held: HeldOperation = {
      id: this.input.tools.id('rev'),
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
    };
    this.held.push(held);
    pushTo(this.#heldOf, fact.id, held);
  }

  /** What only repeats something that waits confirms it once it is there: the last that says so, else the last of its memory. */
  #repeat(
    { id: fact }: Fact,
    { reason }: Change,
    { memoryId, text, saidAt, validFrom, details, sourceIds }: MemoryEvent,
  ): void {
    const words = normaliseText(text ?? '');
    const isSaid = (held: HeldOperation): boolean =>
      held.memoryId === memoryId && held.after !== null && normaliseText(held.after) === words;
    const said = this.held.findLastIndex(isSaid);
    const at = said === -1 ? this.held.findLastIndex((held) => held.memoryId === memoryId) : said;
    const held = this.held[at];
    if (held === undefined) return;
    const repeat = { fact, after: text, reason, saidAt, validFrom, details, sourceIds };
    this.held[at] = { ...held, repeats: [...(held.repeats ?? []), repeat] };
  }

  #record({ reason, decidedBy }: Change, event: DecidedEvent, after: Memory): void {
    this.#made.set(event.memoryId, after);
    this.events.push(event);
    this.#changed.add(changeKey(event.factId ?? '', event.memoryId));
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
    return {
      id: this.input.tools.id('evt'),
      memoryId: of.memoryId,
      revision: (of.before?.revision ?? 0) + 1,
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
      details: says ? this.#details(fact, of.before) : null,
      sourceIds: fact.sourceIds,
    };
  }

  /** A memory keeps what callers attached to it; the fact's own details come on top. */
  #details(fact: Fact, before: Memory | undefined): VersionDetails {
    const kept = before === undefined ? null : newest(before).details;
    return {
      category: fact.category ?? kept?.category ?? null,
      language: fact.language,
      about: fact.about,
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

function pushTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

import type { Candidate, Fact, FactOutcome, HeldOperation, Operation, Remark, ReviewedKind } from '../../plan.ts';
import type { Tools } from '../../ports/tools.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { EventKind, JsonObject, Memory, MemoryEvent, Millis, VersionDetails } from '../../words.ts';
import { evolve, type Home, liveVersion, newest } from '../evolve.ts';
import { holdsAt, versionAt } from './holds-at.ts';

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
  readonly #now: Millis;

  constructor(input: GuardInput) {
    this.input = input;
    this.#memories = new Map(input.memories);
    this.#made = new Map(input.memories);
    this.#now = input.tools.now();
  }

  memory(id: string): Memory | undefined {
    return this.#memories.get(id);
  }

  /** The memory a model's id means: a shown memory, or the one an earlier fact ended up in. */
  resolve(id: string | null): Memory | undefined {
    if (id === null) return undefined;
    const shown = this.input.candidates.find((candidate) => candidate.shortId === id);
    return this.memory(shown?.memoryId ?? this.memoryOfFact.get(id) ?? '');
  }

  /** Live memories this consolidation knows of that say exactly this. */
  saying(text: string): Memory | undefined {
    const words = normaliseText(text);
    return [...this.#memories.values()].find((memory) => this.#wordsOf(memory) === words);
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
    const kinds = this.held.filter((held) => held.fact === outcome.fact).map((held) => held.kind);
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
    return kind === 'DELETE' && this.held.some((held) => held.fact === fact.id);
  }

  #hold(fact: Fact, change: Change, { event, made }: { event: MemoryEvent; made: Memory | undefined }): void {
    if (change.kind === 'NONE') {
      this.#joined.add(fact.id);
      return;
    }
    this.held.push({
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
    return {
      id: this.input.tools.id('evt'),
      memoryId: of.memoryId,
      revision: (of.before?.revision ?? 0) + 1,
      kind: change.kind,
      actor: 'consolidation',
      consolidationId: this.input.consolidationId,
      factId: fact.id,
      reason: change.reason,
      previous: of.before === undefined ? null : previousOf(of.before, change.kind, fact),
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

/** The text that held; for a deletion the one it ends, which is a former one where it is told late. */
function previousOf(before: Memory, kind: EventKind, fact: Fact): string | null {
  const live = liveVersion(before)?.text ?? null;
  return kind === 'DELETE' ? (versionAt(before, fact.saidAt)?.text ?? live) : live;
}

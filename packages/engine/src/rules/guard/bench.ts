import type { Candidate, Fact, FactOutcome, Operation, Remark } from '../../plan.ts';
import type { Tools } from '../../ports/tools.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { EventKind, JsonObject, Memory, MemoryEvent, Millis, VersionDetails } from '../../words.ts';
import { evolve, type Home, liveVersion, newest } from '../evolve.ts';

/** What the guard knows before it begins. */
export interface GuardInput {
  readonly home: Home;
  readonly consolidationId: string;
  readonly facts: readonly Fact[];
  readonly candidates: readonly Candidate[];
  readonly memories: ReadonlyMap<string, Memory>;
  readonly metadataOf: (fact: Fact) => JsonObject;
  readonly expiresAt: Millis | null;
  readonly deletesMax: number;
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

/**
 * The guard's workbench: memories as they will be after the facts handled so far. A later fact sees what an earlier one
 * of the same consolidation did, and chains onto it.
 */
export class Bench {
  readonly input: GuardInput;
  readonly operations: Operation[] = [];
  readonly outcomes: FactOutcome[] = [];
  readonly remarks: Remark[] = [];
  readonly events: MemoryEvent[] = [];
  /** Which memory an earlier fact ended up in. */
  readonly memoryOfFact = new Map<string, string>();
  deletes = 0;
  readonly #memories: Map<string, Memory>;
  readonly #now: Millis;

  constructor(input: GuardInput) {
    this.input = input;
    this.#memories = new Map(input.memories);
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
    return [...this.#memories.values()].find((memory) => {
      const live = liveVersion(memory);
      return live !== null && normaliseText(live.text) === words;
    });
  }

  change(fact: Fact, change: Change): Memory {
    const { tools, home, consolidationId } = this.input;
    const before = change.memoryId === null ? undefined : this.#memories.get(change.memoryId);
    const memoryId = before?.id ?? tools.id('mem');
    const previous = before === undefined ? null : (liveVersion(before)?.text ?? null);
    const event: MemoryEvent = {
      id: tools.id('evt'),
      memoryId,
      revision: (before?.revision ?? 0) + 1,
      kind: change.kind,
      actor: 'consolidation',
      consolidationId,
      factId: fact.id,
      reason: change.reason,
      previous,
      saidAt: fact.saidAt,
      validFrom: fact.validFrom,
      recordedAt: this.#now,
      text: change.kind === 'DELETE' ? null : change.text,
      details: change.kind === 'DELETE' ? null : this.#details(fact, before),
      sourceIds: fact.sourceIds,
    };
    const after = evolve(home, before ?? null, [event]);
    this.#memories.set(memoryId, after);
    this.events.push(event);
    this.operations.push({
      fact: fact.id,
      event: change.kind,
      memoryId,
      revision: before?.revision ?? 0,
      before: previous,
      after: event.text,
      reason: change.reason,
      decidedBy: change.decidedBy,
    });
    return after;
  }

  /** A memory keeps what callers attached to it; the fact's own details come on top. */
  #details(fact: Fact, before: Memory | undefined): VersionDetails {
    const kept = before === undefined ? null : newest(before).details;
    return {
      category: fact.category ?? kept?.category ?? null,
      language: fact.language,
      about: fact.about,
      quote: fact.quote,
      sourceIds: fact.sourceIds,
      metadata: { ...kept?.metadata, ...this.input.metadataOf(fact) },
      immutable: kept?.immutable ?? false,
      expiresAt: this.input.expiresAt,
    };
  }
}

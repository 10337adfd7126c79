import { liveVersion } from '../../memories/evolve.ts';
import type { Candidate, Fact } from '../../plan.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { Memory } from '../../words.ts';
import { candidatesByFact } from '../recall/candidates.ts';

/** Memories as they are after what was decided so far, to be found by id and by what they say. */
export class World {
  readonly #memories = new Map<string, Memory>();
  /** What a memory says, normalised; worked out once, since every fact is held against every memory. */
  readonly #words = new Map<Memory, string | null>();
  /** The memories that say something now: ids by words. */
  readonly #saying = new Map<string, Set<string>>();
  /** In which order memories came. */
  readonly #places = new Map<string, number>();

  constructor(memories: Iterable<Memory>) {
    for (const memory of memories) this.put(memory);
  }

  memory(id: string): Memory | undefined {
    return this.#memories.get(id);
  }

  /** The first live memory that says exactly this. */
  saying(text: string): Memory | undefined {
    const ids = [...(this.#saying.get(normaliseText(text)) ?? [])];
    const [first] = ids.sort((a, b) => this.#placeOf(a) - this.#placeOf(b));
    return first === undefined ? undefined : this.#memories.get(first);
  }

  /** A memory as it is from now on, in the place of what it was. */
  put(memory: Memory): void {
    const before = this.#memories.get(memory.id);
    const [was, is] = [before === undefined ? null : this.#wordsOf(before), this.#wordsOf(memory)];
    if (was !== null) this.#saying.get(was)?.delete(memory.id);
    if (is !== null) this.#saying.set(is, (this.#saying.get(is) ?? new Set()).add(memory.id));
    if (!this.#places.has(memory.id)) this.#places.set(memory.id, this.#places.size);
    this.#memories.set(memory.id, memory);
  }

  #placeOf(memoryId: string): number {
    return this.#places.get(memoryId) ?? 0;
  }

  #wordsOf(memory: Memory): string | null {
    const known = this.#words.get(memory);
    if (known !== undefined) return known;
    const live = liveVersion(memory);
    const words = live === null ? null : normaliseText(live.text);
    this.#words.set(memory, words);
    return words;
  }
}

/** What the model was shown. */
export class Shown {
  readonly #byShortId: ReadonlyMap<string, Candidate>;
  readonly #byMemory: ReadonlyMap<string, Candidate>;
  readonly #byFact: ReadonlyMap<string, readonly Candidate[]>;

  constructor(candidates: readonly Candidate[]) {
    const reversed = candidates.toReversed();
    this.#byShortId = new Map(reversed.map((candidate) => [candidate.shortId, candidate]));
    this.#byMemory = new Map(reversed.map((candidate) => [candidate.memoryId, candidate]));
    this.#byFact = candidatesByFact(candidates);
  }

  /** By the short id that the model was given for it. */
  named(shortId: string): Candidate | undefined {
    return this.#byShortId.get(shortId);
  }

  as(memoryId: string): Candidate | undefined {
    return this.#byMemory.get(memoryId);
  }

  /** What was recalled for a fact, in the order in which it was shown. */
  recalledFor(fact: Fact): readonly Candidate[] {
    return this.#byFact.get(fact.id) ?? [];
  }
}

import type { Fact, HeldOperation } from '../../plan.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { MemoryEvent } from '../../words.ts';

/** What waits for a person, and the facts that only repeat it. */
export class Held {
  readonly operations: HeldOperation[] = [];
  readonly #ofFact = new Map<string, HeldOperation[]>();
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

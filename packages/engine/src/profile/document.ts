import { compareSaid, type Placement, type SaidAt } from '../words.ts';
import { OTHER_SLOT, type ProfileSlot, slotOfCategory } from './slots.ts';

/** What is known of a fact of a profile. */
export interface Placeable {
  readonly saidAt: SaidAt;
  readonly category: string | null;
  readonly placed: Placement | null;
}

/** One line: a memory in the version that says so. */
interface ProfileLine<F extends Placeable> {
  readonly fact: F;
  /** rule: by its category, or because it was pinned or said again and again. */
  readonly by: 'person' | 'night' | 'rule';
}

/** A slot with its lines. */
export interface FilledSlot<F extends Placeable> {
  readonly slot: ProfileSlot;
  readonly lines: readonly ProfileLine<F>[];
  /** There was no room for so many. */
  readonly leftOut: number;
}

/**
 * The profile as a document: all that has a rank in it, in its slots. Of a slot that is full, what people put there stays, then what was
 * said last.
 */
export function profileOf<F extends Placeable>(
  facts: readonly F[],
  slots: readonly ProfileSlot[],
): readonly FilledSlot<F>[] {
  const all = [...slots, OTHER_SLOT];
  const bySlot = Map.groupBy(facts, (fact) => slotOf(fact, slots).name);
  return all.map((slot) => {
    const lines = (bySlot.get(slot.name) ?? [])
      .map((fact): ProfileLine<F> => ({ fact, by: fact.placed?.by ?? 'rule' }))
      .sort(
        (a, b) => Number(b.by === 'person') - Number(a.by === 'person') || compareSaid(b.fact.saidAt, a.fact.saidAt),
      );
    return { slot, lines: lines.slice(0, slot.lines), leftOut: Math.max(0, lines.length - slot.lines) };
  });
}

function slotOf({ placed, category }: Placeable, slots: readonly ProfileSlot[]): ProfileSlot {
  const named = slots.find(({ name }) => name === placed?.slot);
  return named ?? slotOfCategory(slots, category) ?? OTHER_SLOT;
}

/** The facts of a profile alone, in the order in which they were given: that of their rank. */
export function linesKept<F extends Placeable>(facts: readonly F[], slots: readonly ProfileSlot[]): readonly F[] {
  const kept = new Set(profileOf(facts, slots).flatMap(({ lines }) => lines.map(({ fact }) => fact)));
  return facts.filter((fact) => kept.has(fact));
}

import { normaliseText } from '../text/normalise.ts';
import { overlap } from '../text/similarity.ts';
import type { Owner } from '../words.ts';

/** A memory that holds, on one side. */
export interface Held {
  /** What both sides call it; null: it came from the batches. */
  readonly origin: string | null;
  readonly id: string;
  readonly text: string;
  /** The messages it came from, as they are called in life. */
  readonly sources: ReadonlySet<string>;
}

/** How a memory is in life and in the space. null: it does not hold there. */
export interface MemoryDifference {
  readonly owner: Owner;
  /** As it is called in life; null for one that is only in the space. */
  readonly memoryId: string | null;
  readonly life: string | null;
  readonly whatIf: string | null;
}

export interface Compared {
  readonly same: number;
  readonly differences: readonly MemoryDifference[];
}

/** Two texts from the same messages that share this much say the same thing otherwise; below it they are two things. */
const ALIKE = 0.25;

/**
 * What holds in life against what holds in the space, for one owner. Memories that were there before are compared by
 * what they are; those that came from the batches by their text, and the rest by the messages they came from.
 */
export function compare(owner: Owner, { life, whatIf }: { life: readonly Held[]; whatIf: readonly Held[] }): Compared {
  const pairs = [...byOrigin(life, whatIf), ...byText(newIn(life), newIn(whatIf))];
  const same = pairs.filter(([a, b]) => a !== null && b !== null && sameText(a, b)).length;
  const differences = pairs
    .filter(([a, b]) => a === null || b === null || !sameText(a, b))
    .map(([a, b]) => ({ owner, memoryId: a?.id ?? null, life: a?.text ?? null, whatIf: b?.text ?? null }));
  return { same, differences };
}

type Pair = readonly [life: Held | null, whatIf: Held | null];

const newIn = (side: readonly Held[]): Held[] => side.filter(({ origin }) => origin === null);
const sameText = (a: Held, b: Held): boolean => normaliseText(a.text) === normaliseText(b.text);

function byOrigin(life: readonly Held[], whatIf: readonly Held[]): Pair[] {
  const others = new Map(whatIf.flatMap((held) => (held.origin === null ? [] : [[held.origin, held] as const])));
  const pairs: Pair[] = [];
  for (const held of life) {
    if (held.origin === null) continue;
    pairs.push([held, others.get(held.origin) ?? null]);
    others.delete(held.origin);
  }
  return [...pairs, ...[...others.values()].map((held): Pair => [null, held])];
}

function byText(life: Held[], whatIf: Held[]): Pair[] {
  const pairs: Pair[] = [];
  const pair = (fits: (a: Held, b: Held) => number): void => {
    for (const a of [...life]) {
      const best = whatIf.map((b) => [fits(a, b), b] as const).sort(([x], [y]) => y - x)[0];
      if (best === undefined || best[0] <= 0) continue;
      pairs.push([a, best[1]]);
      life.splice(life.indexOf(a), 1);
      whatIf.splice(whatIf.indexOf(best[1]), 1);
    }
  };
  pair((a, b) => (sameText(a, b) ? 1 : 0));
  pair((a, b) => (shareSource(a, b) ? Math.max(0, overlap(a.text, b.text) - ALIKE) : 0));
  return [...pairs, ...life.map((a): Pair => [a, null]), ...whatIf.map((b): Pair => [null, b])];
}

const shareSource = (a: Held, b: Held): boolean => [...a.sources].some((id) => b.sources.has(id));

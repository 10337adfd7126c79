import type { NearThresholds } from '../../deps.ts';
import type { Fact } from '../../plan.ts';
import type { Sliced } from '../../slices.ts';
import { cosine } from '../../text/scoring.ts';
import { overlap } from '../../text/similarity.ts';
import { termSet } from '../../text/terms.ts';

/** Close enough on either leg that only a decision can tell what the fact does to the memory. */
export const isNear = (
  scores: { readonly vector: number | null; readonly keyword: number | null },
  near: NearThresholds,
): boolean => (scores.vector ?? 0) >= near.vector || (scores.keyword ?? 0) >= near.keyword;

/** Facts of one consolidation beyond which comparing each with each is not worth the time: they are simply decided. */
const PAIRS_MAX_FACTS = 200;

/** Whether two of the facts might tell of the same thing. */
export function* nearEachOther(facts: readonly Fact[], isPairNear: PairNear): Sliced<boolean> {
  if (facts.length > PAIRS_MAX_FACTS) return true;
  for (const [i, one] of facts.entries()) {
    if (facts.slice(i + 1).some((other) => isPairNear(one, other))) return true;
    yield;
  }
  return false;
}

/** Whether two facts might tell of the same thing; what they are compared by is worked out once for each. */
export type PairNear = (one: Fact, other: Fact) => boolean;

export function pairNear(vectorOf: (text: string) => Float32Array, near: NearThresholds): PairNear {
  const known = new Map<Fact, { readonly vector: Float32Array; readonly terms: ReadonlySet<string> }>();
  const comparable = (fact: Fact) => {
    const made = known.get(fact) ?? { vector: vectorOf(fact.text), terms: termSet(fact.text) };
    known.set(fact, made);
    return made;
  };
  return (one, other) => {
    const [a, b] = [comparable(one), comparable(other)];
    return cosine(a.vector, b.vector) >= near.vector || overlap(a.terms, b.terms) >= near.overlap;
  };
}

import type { NearThresholds } from '../deps.ts';
import type { Fact } from '../plan.ts';
import { overlap } from '../text/similarity.ts';
import { cosine } from '../text/vectors.ts';

/** Close enough on either leg that only a decision can tell what the fact does to the memory. */
export const isNear = (
  scores: { readonly vector: number | null; readonly keyword: number | null },
  near: NearThresholds,
): boolean => (scores.vector ?? 0) >= near.vector || (scores.keyword ?? 0) >= near.keyword;

/** Facts of one consolidation beyond which comparing each with each is not worth the time: they are simply decided. */
const PAIRS_MAX_FACTS = 200;

/** Whether two of the facts might tell of the same thing. */
export function nearEachOther(
  facts: readonly Fact[],
  vectorOf: (text: string) => Float32Array,
  near: NearThresholds,
): boolean {
  if (facts.length > PAIRS_MAX_FACTS) return true;
  return facts.some((fact, i) =>
    facts.slice(i + 1).some((other) => {
      const vector = cosine(vectorOf(fact.text), vectorOf(other.text));
      return vector >= near.vector || overlap(fact.text, other.text) >= near.overlap;
    }),
  );
}

import type { NearThresholds } from '../deps.ts';
import type { Fact } from '../plan.ts';
import { overlap, termSet } from '../text/similarity.ts';
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
  const compared = facts.map(({ text }) => ({ vector: vectorOf(text), terms: termSet(text) }));
  return compared.some((one, i) =>
    compared
      .slice(i + 1)
      .some(
        (other) => cosine(one.vector, other.vector) >= near.vector || overlap(one.terms, other.terms) >= near.overlap,
      ),
  );
}

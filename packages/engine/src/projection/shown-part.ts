import type { IndexPoint, ShownPoint } from '../ports/search-index.ts';

/** What of a point comes back with a hit. */
export function shownPart({ vector: _, terms: __, contextTerms: ___, ...shown }: IndexPoint): ShownPoint {
  return shown;
}

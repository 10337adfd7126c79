import { boostRelated, type FoundRelation, type IndexHit, type RankedHit, rank } from '@slowwave/engine';
import type { SearchDeps } from './deps.ts';
import { type Found, wordsOf } from './find.ts';
import type { Question } from './search.ts';

export interface Ranked {
  readonly memories: readonly RankedHit[];
  readonly messages: readonly RankedHit[];
}

interface AllFound {
  readonly found: Found;
  /** None, unless they were asked for. */
  readonly relations: readonly FoundRelation[];
}

/**
 * What was found, each shelf in its order; memories that belong to found relations come forward, and those that score less
 * than the threshold are left out.
 */
export function ranked(
  deps: Pick<SearchDeps, 'tools' | 'vectors'>,
  { body }: Question,
  { found, relations }: AllFound,
): Ranked {
  const { query: text, mode, as_of, threshold = 0 } = body;
  const at = as_of === undefined ? deps.tools.now() : Date.parse(as_of);
  const question = { text, terms: wordsOf(text), mode, at, vectors: deps.vectors };
  const inOrder = (hits: readonly IndexHit[]): RankedHit[] => (hits.length === 0 ? [] : rank(question, hits));
  return {
    memories: boostRelated(inOrder(found.memories), relations).filter(({ score }) => score >= threshold),
    messages: inOrder(found.messages),
  };
}

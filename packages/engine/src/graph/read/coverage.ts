import { terms } from '../../text/terms.ts';
import { conceptsOf, relationshipTerms } from './concepts.ts';
import type { SeenRelation } from './seen.ts';

/** Terms of a question that are looked for on paths: a longer question is no chain of relationships. */
const WANTED_MAX = 16;
/** What it is worth when a relation has a term of the question: as its relationship, by its meaning, in a name. */
const WORTH = { relationship: 1, concept: 0.8, name: 0.7 } as const;

/** How much of what a question wants a relation has: one number for each wanted term. */
export type Cover = readonly number[];

/** What a question asks for, without the names it begins at. */
export const wantedOf = (question: readonly string[], named: ReadonlySet<string>): readonly string[] =>
  [...new Set(question)].filter((term) => !named.has(term)).slice(0, WANTED_MAX);

export function coverOf(wanted: readonly string[], relation: SeenRelation): Cover {
  const words = relationshipTerms(relation.relationship);
  const names = new Set(terms(`${relation.sourceName} ${relation.destinationName}`));
  const meant = new Set(words.flatMap((word) => [...conceptsOf(word)]));
  return wanted.map((term) => {
    if (words.includes(term)) return WORTH.relationship;
    if ([...conceptsOf(term)].some((concept) => meant.has(concept))) return WORTH.concept;
    return names.has(term) ? WORTH.name : 0;
  });
}

export const joined = (a: Cover, b: Cover): Cover => a.map((value, i) => Math.max(value, b[i] ?? 0));
export const sum = (cover: Cover): number => cover.reduce((total, value) => total + value, 0);

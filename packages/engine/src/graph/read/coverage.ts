import { terms } from '../../text/terms.ts';
import { meaningOf, relationshipTerms } from './concepts.ts';
import type { SeenRelation } from './seen.ts';

/** Terms of a question that are looked for on paths: a longer question is no chain of relationships. */
const WANTED_MAX = 64;
/** What it is worth when a relation has a term of the question: as its relationship, by its meaning, in a name, or nearly. */
const WORTH = { relationship: 1, same: 0.9, name: 0.7, near: 0.4 } as const;

/** How much of what a question wants a relation has: one number for each wanted term. */
export type Cover = readonly number[];

/** What a question asks for, without the names it begins at. */
export const wantedOf = (question: readonly string[], named: ReadonlySet<string>): readonly string[] =>
  [...new Set(question)].filter((term) => !named.has(term)).slice(0, WANTED_MAX);

/** The words of relations, each name and relationship taken apart once: the same come again and again. */
export interface Wording {
  /** The terms of a relation, as it reads. */
  terms(relation: SeenRelation): readonly string[];
  cover(relation: SeenRelation): Cover;
}

export function wordingFor(wanted: readonly string[]): Wording {
  const asked = wanted.map((term) => ({ term, meaning: meaningOf([term]) }));
  const byRelationship = once((relationship) => {
    const words = relationshipTerms(relationship);
    const meaning = meaningOf(words);
    return { words, worths: asked.map((one) => worthOf(one, { words, meaning })) };
  });
  const byName = once(terms);
  const coverNamed = once((name) => {
    const words = new Set(byName(name));
    return wanted.map((term) => (words.has(term) ? WORTH.name : 0));
  });
  return {
    terms: ({ sourceName, relationship, destinationName }) => [
      ...byName(sourceName),
      ...byRelationship(relationship).words,
      ...byName(destinationName),
    ],
    cover: ({ sourceName, relationship, destinationName }) =>
      joined(byRelationship(relationship).worths, joined(coverNamed(sourceName), coverNamed(destinationName))),
  };
}

interface Asked {
  readonly term: string;
  readonly meaning: ReturnType<typeof meaningOf>;
}

interface Has {
  readonly words: readonly string[];
  readonly meaning: ReturnType<typeof meaningOf>;
}

function worthOf({ term, meaning }: Asked, has: Has): number {
  if (has.words.includes(term)) return WORTH.relationship;
  if (meets(meaning.same, has.meaning.same)) return WORTH.same;
  return meets(meaning.near, has.meaning.near) ? WORTH.near : 0;
}

const meets = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => [...a].some((one) => b.has(one));

function once<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, T>();
  return (text) => {
    const known = made.get(text) ?? make(text);
    made.set(text, known);
    return known;
  };
}

/** Of what is wanted only what any of the covers has: the rest tells no path from another. */
export function withoutIdle(covers: readonly Cover[]): readonly Cover[] {
  const used = (covers[0] ?? []).map((_, i) => covers.some((cover) => (cover[i] ?? 0) > 0));
  return covers.map((cover) => cover.filter((_, i) => used[i]));
}

export const joined = (a: Cover, b: Cover): Cover => a.map((value, i) => Math.max(value, b[i] ?? 0));
export const sum = (cover: Cover): number => cover.reduce((total, value) => total + value, 0);

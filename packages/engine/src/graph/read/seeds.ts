import type { IndexHit } from '../../ports/search-index.ts';
import { fuse } from '../../search/fuse.ts';
import { normaliseText } from '../../text/normalise.ts';
import { terms } from '../../text/terms.ts';
import type { Entity } from '../words.ts';

/** An entity that a question begins at. */
export interface Seed {
  readonly id: string;
  /** 0…1: how sure it is that the question is about it. */
  readonly weight: number;
  /** The words of the question that name it. */
  readonly terms: readonly string[];
}

/** Entities that are only like something in the question: few, and believed less than what is named. */
const LIKE_MAX = 3;
const LIKE_WEIGHT = 0.6;
/** Nobody is named: then it is about the owner, perhaps. */
const UNNAMED_WEIGHT = 0.5;

/**
 * The entities that are named. Of a name that is part of a longer one the longer counts: who asks for Ana Lopez does not ask
 * for Ana.
 */
export function namedSeeds(mentions: readonly string[], entities: readonly Entity[]): readonly Seed[] {
  const asked = new Set(mentions);
  const found = entities.map((entity) => ({ entity, names: namesOf(entity).filter((name) => asked.has(name)) }));
  const all = found.flatMap(({ names }) => names);
  const isPart = (name: string): boolean => all.some((other) => other !== name && other.includes(name));
  return found
    .filter(({ names }) => names.length === 0 || !names.every(isPart))
    .map(({ entity, names }) => ({ id: entity.id, weight: 1, terms: names.flatMap((name) => terms(name)) }));
}

/** Who asks, in their own words or because nobody else is named. */
export const selfSeed = (self: Entity, isNamed: boolean): Seed => ({
  id: self.id,
  weight: isNamed ? 1 : UNNAMED_WEIGHT,
  terms: [],
});

/** The entities whose names are like something in the question. */
export const likeSeeds = (hits: readonly IndexHit[]): readonly Seed[] =>
  fuse(hits, 'hybrid')
    .slice(0, LIKE_MAX)
    .filter(({ score }) => score > 0)
    .map(({ hit: { point }, score }) => ({
      id: point.memoryId,
      weight: LIKE_WEIGHT * score,
      terms: terms(point.text),
    }));

const namesOf = ({ name, aliases }: Entity): string[] => [name, ...aliases].map(normaliseText);

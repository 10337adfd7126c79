import { TERMS_VERSION } from '@slowwave/engine';
import { hashOf } from './keys.ts';

/** Goes up with every change of payload, weights or ids: points of two formats are never mixed. */
const FORMAT = 4;

/** What a collection is made for. */
export interface QdrantSpace {
  /** The name by which everybody knows the index, whichever collection is behind it. */
  readonly alias: string;
  readonly dimensions: number;
  readonly fingerprint: string;
}

/** The names that follow from a space. */
export interface SpaceNames {
  readonly alias: string;
  /** Two names for collections of the same space: one is built while the other is in use. */
  readonly collections: readonly [string, string];
  /** Names its space, so that the server itself refuses vectors and questions of another one. */
  readonly dense: string;
  /** Words of the texts alone, and of what they came from, too. */
  readonly sparse: string;
  readonly wide: string;
}

export function namesOf({ alias, dimensions, fingerprint }: QdrantSpace): SpaceNames {
  const key = hashOf([FORMAT, fingerprint, dimensions, TERMS_VERSION]).slice(0, 12);
  const first = `${alias}_${key}_t${TERMS_VERSION}`;
  return { alias, collections: [first, `${first}_b`], dense: `dense_${key}`, sparse: 'terms', wide: 'wide_terms' };
}

/** The collection of this space that is not the given one. */
export const besides = ({ collections: [first, second] }: SpaceNames, current: string | null): string =>
  current === first ? second : first;

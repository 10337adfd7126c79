import type { Owner } from '../words.ts';

/** A canary that is in force: new turns of the owners in its share are consolidated with its changes. */
export interface InForce {
  readonly id: string;
  /** Of the owners, in percent. */
  readonly share: number;
}

/** Whether a canary is for this owner. The same owners stay in as the share grows, and each canary has others. */
export const isInShare = ({ id, share }: InForce, { kind, id: owner }: Owner): boolean =>
  placeOf(JSON.stringify([id, kind, owner])) < share;

/** Evenly from 0 to 100. The threads of a store have no hash at hand: FNV-1a, with the last mixing of MurmurHash3. */
function placeOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) * (100 / 2 ** 32);
}

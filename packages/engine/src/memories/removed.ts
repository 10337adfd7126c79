import { fingerprint, normaliseText } from '../text/normalise.ts';
import type { Memory, VersionDetails } from '../words.ts';
import { liveVersion } from './evolve.ts';

/** Something said, or what is left of it. */
interface Wording {
  readonly text: string;
  readonly details: Pick<VersionDetails, 'removed'>;
}

/** Whether retention has removed what it said. */
export const isRemoved = ({ details }: Wording): boolean => details.removed !== undefined;

/** Whether this is what it says or, once it was removed, said. `words` are normalised. */
export const reads = (said: Wording, words: string): boolean =>
  said.details.removed === undefined ? normaliseText(said.text) === words : said.details.removed === fingerprint(words);

/** Whether it would hold again, but nothing is left of what it says. */
export function isHollow(memory: Memory): boolean {
  const live = liveVersion(memory);
  return live !== null && isRemoved(live);
}

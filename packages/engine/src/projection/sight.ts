import { deletedAt, inOrder, newest } from '../memories/evolve.ts';
import { foundVersions } from '../memories/former.ts';
import type { IndexPoint } from '../ports/search-index.ts';
import { saidAsOf, saysAt } from '../search/hits.ts';
import type { Memory, MemoryVersion, Millis } from '../words.ts';

/** What a memory that is not deleted says at a moment, as a search at that moment shows it. */
export function shownVersion(memory: Memory, at: Millis): MemoryVersion {
  const sight = sightOf(memory, false);
  return (
    foundVersions(memory).find((version) => saysAt({ ...sight(version), invalidAt: version.invalidAt }, at)) ??
    newest(memory)
  );
}

/** What a memory said at another moment, as a search as of that moment shows it; null: nothing. */
export function versionAsOf(memory: Memory, at: Millis): MemoryVersion | null {
  const sight = sightOf(memory, deletedAt(memory) !== null);
  return foundVersions(memory).find((version) => saidAsOf({ ...timesOf(version), ...sight(version) }, at)) ?? null;
}

const timesOf = ({ validFrom, invalidAt, details }: MemoryVersion) => ({
  validFrom,
  invalidAt,
  expiresAt: details.expiresAt,
});

type Sight = Pick<IndexPoint, 'live'> & Partial<Pick<IndexPoint, 'shownFrom'>>;

/**
 * Who says today what begins on Monday changes what holds on Monday: until then the version before is shown. Where there was
 * nothing before, what is to come is shown since it was said: it is all that is known.
 */
export function sightOf(memory: Memory, isDeleted: boolean): (version: MemoryVersion) => Sight {
  const ordered = inOrder(memory);
  const isLater = ({ validFrom, saidAt }: MemoryVersion): boolean => validFrom > saidAt.at;
  return (version) => {
    const place = ordered.indexOf(version);
    const endsLater = ordered.slice(place + 1).some((next) => next.validFrom === version.invalidAt && isLater(next));
    const live = !isDeleted && (version.supersededBy === null || endsLater);
    if (!isLater(version)) return { live };
    const isChange = ordered.slice(0, place).some((before) => holdsAfter(before, version.saidAt.at));
    return { live, shownFrom: isChange ? version.validFrom : version.saidAt.at };
  };
}

const holdsAfter = ({ validFrom, invalidAt }: MemoryVersion, at: number): boolean =>
  invalidAt === null || (invalidAt > at && invalidAt > validFrom);

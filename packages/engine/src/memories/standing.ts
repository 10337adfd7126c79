import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import { contextOf, type SaidById } from '../projection/found-by.ts';
import { saysAt } from '../search/hits.ts';
import { terms } from '../text/terms.ts';
import type { Memory, MemoryVersion, Millis } from '../words.ts';
import { deletedAt, inOrder, newest } from './evolve.ts';
import { isRemoved } from './former.ts';

/** What points are made with beside their memory. */
export interface Making {
  readonly vectorOf: (text: string) => Float32Array;
  /** The messages that versions came from. */
  readonly said: SaidById;
}

/** Every version of a memory as the index holds it: all but those of which retention has left nothing to find. */
export function pointsOf(memory: Memory, { vectorOf, said }: Making): readonly IndexPoint[] {
  const deleted = deletedAt(memory);
  const sight = sightOf(memory, deleted !== null);
  return foundVersions(memory).map((version) => ({
    ...placeOf(memory),
    ...versionPart(version),
    ...sight(version),
    deletedAt: deleted,
    vector: vectorOf(version.text),
    terms: terms(version.text),
    ...contextOf(version, said),
  }));
}

/** What a memory that is not deleted says at a moment, as a search at that moment shows it. */
export function shownVersion(memory: Memory, at: Millis): MemoryVersion {
  const sight = sightOf(memory, false);
  return (
    foundVersions(memory).find((version) => saysAt({ ...sight(version), invalidAt: version.invalidAt }, at)) ??
    newest(memory)
  );
}

type Sight = Pick<IndexPoint, 'live'> & Partial<Pick<IndexPoint, 'shownFrom'>>;

/**
 * Who says today what begins on Monday changes what holds on Monday: until then the version before is shown. Where there was
 * nothing before, what is to come is shown since it was said: it is all that is known.
 */
function sightOf(memory: Memory, isDeleted: boolean): (version: MemoryVersion) => Sight {
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

/** The versions that an index holds. */
export const foundVersions = ({ versions }: Memory): readonly MemoryVersion[] =>
  versions.filter((version) => !isRemoved(version));

/**
 * Versions an index may once have had and has no more: their numbers are those of marks, only what is undone takes a
 * mark out of the versions, and retention leaves it there without a text.
 */
export function withdrawalsOf({
  tenant,
  owner,
  lane,
  id,
  revision,
  timeline,
  versions,
}: Memory): readonly Withdrawal[] {
  const isWhole = !timeline.some(({ kind }) => kind === 'retracted') && !versions.some(isRemoved);
  if (isWhole) return [];
  const numbers = new Set(versions.filter((version) => !isRemoved(version)).map(({ number }) => number));
  const gone = timeline.filter((mark) => mark.kind === 'said' && !numbers.has(mark.revision));
  return gone.map((mark) => ({
    shelf: 'memories',
    tenant,
    owner,
    lane,
    memoryId: id,
    version: mark.revision,
    revision,
  }));
}

const placeOf = (memory: Memory) => ({
  shelf: 'memories' as const,
  tenant: memory.tenant,
  lane: memory.lane,
  owner: memory.owner,
  scope: memory.scope,
  memoryId: memory.id,
  revision: memory.revision,
  confirmations: memory.confirmations,
  createdAt: memory.createdAt,
  updatedAt: memory.updatedAt,
});

const versionPart = (version: MemoryVersion) => ({
  version: version.number,
  text: version.text,
  saidAt: version.saidAt,
  validFrom: version.validFrom,
  ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
  invalidAt: version.invalidAt,
  expiresAt: version.details.expiresAt,
  category: version.details.category,
  metadata: version.details.metadata,
  immutable: version.details.immutable,
  sourceIds: version.details.sourceIds,
});

/** The messages its versions came from. */
export const sourcesOf = (memory: Memory): string[] =>
  foundVersions(memory).flatMap(({ details }) => details.sourceIds);

/** Everything of a memory that an index needs a vector for. */
export const textsOf = (memory: Memory): string[] => foundVersions(memory).map((version) => version.text);

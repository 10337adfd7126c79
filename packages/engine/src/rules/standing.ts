import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import type { Memory, MemoryVersion } from '../words.ts';
import { contextOf, type SaidById } from './context.ts';
import { deletedAt, newestOrNull } from './evolve.ts';
import { isRemoved } from './removed.ts';

/** What points are made with beside their memory. */
export interface Making {
  readonly vectorOf: (text: string) => Float32Array;
  /** The messages that versions came from. */
  readonly said: SaidById;
}

/** Every version of a memory as the index holds it: all but those of which retention has left nothing to find. */
export function pointsOf(memory: Memory, { vectorOf, said }: Making): readonly IndexPoint[] {
  const last = newestOrNull(memory);
  const deleted = deletedAt(memory);
  return foundVersions(memory).map((version) => ({
    ...placeOf(memory),
    ...versionPart(version),
    live: version.number === last?.number && deleted === null,
    deletedAt: deleted,
    vector: vectorOf(version.text),
    terms: terms(version.text),
    ...contextOf(version, said),
  }));
}

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

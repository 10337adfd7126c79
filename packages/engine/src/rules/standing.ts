import type { IndexPoint } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import type { Memory, MemoryVersion } from '../words.ts';
import { deletedAt, newest } from './evolve.ts';

/** Every version of a memory as the index holds it. */
export function pointsOf(memory: Memory, vectorOf: (text: string) => Float32Array): readonly IndexPoint[] {
  const last = newest(memory);
  const deleted = deletedAt(memory);
  return memory.versions.map((version) => ({
    ...placeOf(memory),
    ...versionPart(version),
    live: version.number === last.number && deleted === null,
    deletedAt: deleted,
    vector: vectorOf(version.text),
    terms: terms(version.text),
  }));
}

const placeOf = (memory: Memory) => ({
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

/** Everything of a memory that an index needs a vector for. */
export const textsOf = (memory: Memory): string[] => memory.versions.map((version) => version.text);

import type { MemoryView } from '@slowwave/contracts';
import { newest } from '../memories/evolve.ts';
import { isPinned } from '../memories/pinned.ts';
import { isoOf } from '../text/dates.ts';
import type { Memory, MemoryVersion } from '../words.ts';
import { isoOrNull } from './moments.ts';
import { scopeView } from './scope.ts';

/** A memory as the API shows it: by what was said last, where nothing else is given. */
export function memoryView(memory: Memory, version: MemoryVersion = newest(memory)): MemoryView {
  const { details } = version;
  return {
    id: memory.id,
    ...scopeView(memory.scope),
    memory: version.text,
    version: version.number,
    metadata: details.metadata,
    categories: details.category === null ? [] : [details.category],
    immutable: details.immutable,
    pinned: isPinned(memory),
    said_at: isoOf(version.saidAt.at),
    valid_from: isoOf(version.validFrom),
    ...(details.utcOffset !== undefined && { utc_offset: details.utcOffset }),
    invalid_at: isoOrNull(version.invalidAt),
    expires_at: isoOrNull(details.expiresAt),
    confirmations: memory.confirmations,
    created_at: isoOf(memory.createdAt),
    updated_at: isoOf(memory.updatedAt),
  };
}

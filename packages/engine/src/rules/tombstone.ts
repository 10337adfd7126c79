import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Tools } from '../ports/tools.ts';
import { normaliseText } from '../text/normalise.ts';
import type { MemoryEvent } from '../words.ts';

/** What a deletion leaves behind, so that nothing said before it brings the same back. */
export function tombstoneOf({ hash }: Pick<Tools, 'hash'>, event: MemoryEvent): Tombstone[] {
  if (event.kind !== 'DELETE' || event.previous === null) return [];
  return [{ memoryId: event.memoryId, textHash: hash(normaliseText(event.previous)), deletedAt: event.saidAt }];
}

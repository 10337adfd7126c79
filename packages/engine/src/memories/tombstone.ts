import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Tools } from '../ports/tools.ts';
import { normaliseText } from '../text/normalise.ts';
import type { MemoryEvent } from '../words.ts';

/** What a deletion leaves behind, so that nothing said before it brings the same back. */
export function tombstoneOf({ hash }: Pick<Tools, 'hash'>, event: MemoryEvent): Tombstone[] {
  const textHash = blockedHash({ hash }, event);
  return textHash === null ? [] : [{ memoryId: event.memoryId, textHash, deletedAt: event.saidAt }];
}

/** By what a deletion blocks; null where it ended nothing. */
export function blockedHash({ hash }: Pick<Tools, 'hash'>, event: MemoryEvent): string | null {
  if (event.kind !== 'DELETE' || event.previous === null) return null;
  return event.previousHash ?? hash(normaliseText(event.previous));
}

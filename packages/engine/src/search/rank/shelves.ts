import type { RankedHit } from './rank.ts';

/** What a message's score is worth beside a memory's: of two that answer alike the memory is shown first. */
const MESSAGE_WORTH = 0.8;

export interface Shelves {
  readonly memories: readonly RankedHit[];
  readonly messages: readonly RankedHit[];
}

/**
 * Memories and raw messages in one list, falling by score. A message that a memory before it came from is left out: it
 * would say the same again.
 */
export function mergeShelves({ memories, messages }: Shelves, limit: number): RankedHit[] {
  const rest = messages.map((message) => ({ ...message, score: message.score * MESSAGE_WORTH }));
  const merged: RankedHit[] = [];
  const told = new Set<string>();
  const left = { memories: [...memories], messages: rest };
  while (merged.length < limit && left.memories.length + left.messages.length > 0) {
    const from = (left.messages[0]?.score ?? -1) > (left.memories[0]?.score ?? -1) ? left.messages : left.memories;
    const next = from.shift();
    if (next === undefined || (next.hit.point.shelf === 'messages' && told.has(next.hit.point.memoryId))) continue;
    if (next.hit.point.shelf === 'memories') for (const id of next.hit.point.sourceIds) told.add(id);
    merged.push(next);
  }
  return merged;
}

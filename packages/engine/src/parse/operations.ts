import type { EventKind, Json, JsonObject } from '../words.ts';
import { isObject, listUnder, textUnder, wordUnder } from './shapes.ts';

/** An operation as the model wrote it; nothing in it is believed yet. */
export interface RawOperation {
  /** null in mem0's older shape, which does not say which fact an entry stands for. */
  readonly fact: string | null;
  /** null when the model named none, or one that does not exist. */
  readonly event: EventKind | null;
  readonly id: string | null;
  readonly text: string | null;
  readonly reason: string | null;
  /** false: a wish to forget. */
  readonly keep: boolean;
}

const TEXT_KEYS = ['text', 'memory', 'content', 'new_memory', 'data'];
const EVENTS: Readonly<Record<string, EventKind>> = {
  ADD: 'ADD',
  CREATE: 'ADD',
  INSERT: 'ADD',
  UPDATE: 'UPDATE',
  REPLACE: 'UPDATE',
  MODIFY: 'UPDATE',
  DELETE: 'DELETE',
  REMOVE: 'DELETE',
  NONE: 'NONE',
  NOOP: 'NONE',
  NO_CHANGE: 'NONE',
};

/** The operations of an answer to a decide call; null when it holds no list of them. */
export function operationsIn(value: Json): readonly RawOperation[] | null {
  const items = listUnder(value, ['operations', 'memory', 'memories', 'results']);
  if (items === null) return null;
  return items.flatMap(({ key, item }) => (isObject(item) ? [operationOf(item, key)] : []));
}

function operationOf(item: JsonObject, key: string | null): RawOperation {
  const event = wordUnder(item, 'event') ?? wordUnder(item, 'operation') ?? wordUnder(item, 'action');
  const isKeyedByFact = key !== null && /^f\d+$/u.test(key);
  return {
    fact: wordUnder(item, 'fact') ?? (isKeyedByFact ? key : null),
    event: event === null ? null : (EVENTS[event.toUpperCase().replaceAll(/[\s-]/gu, '_')] ?? null),
    id: wordUnder(item, 'id') ?? wordUnder(item, 'memory_id') ?? (isKeyedByFact ? null : key),
    text: textUnder(item, TEXT_KEYS),
    reason: wordUnder(item, 'reason'),
    keep: item.keep !== false && item.keep !== 'false',
  };
}

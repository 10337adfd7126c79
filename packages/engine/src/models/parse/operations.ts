import type { EventKind, Json, JsonObject } from '../../words.ts';
import { type Item, isObject, type Listed, listed, listUnder, textUnder, wordUnder } from './listed.ts';

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

/**
 * Operations of one answer; what comes after them is put aside. A decide call shows at most some 2,000 facts and memories,
 * and mem0's older shape repeats every memory.
 */
export const OPERATIONS_MAX = 3_000;

/** The operations of answers to a decide call; null when they hold no list of them. What is there twice counts once. */
export function operationsIn(...values: readonly Json[]): Listed<RawOperation> | null {
  const lists = values.flatMap((value) => {
    const items = itemsIn(value);
    return items === null ? [] : [items];
  });
  if (lists.length === 0) return null;
  const read = ({ key, item }: Item): RawOperation | null => (isObject(item) ? operationOf(item, key) : null);
  const all = listed(lists, { what: ['an operation', 'operations'], max: OPERATIONS_MAX, read });
  if (lists.length === 1) return all;
  return { ...all, items: [...new Map(all.items.map((one) => [JSON.stringify(one), one])).values()] };
}

/** Also where there is one operation in the place of a list. */
function itemsIn(value: Json): readonly Item[] | null {
  if (isObject(value) && eventOf(value) !== null) return [{ key: null, item: value }];
  const list = isObject(value)
    ? LIST_KEYS.map((key) => value[key]).find((one) => isObject(one) && eventOf(one) !== null)
    : undefined;
  return list === undefined ? listUnder(value, LIST_KEYS) : [{ key: null, item: list }];
}

const LIST_KEYS = ['operations', 'memory', 'memories', 'results'];

const eventOf = (item: JsonObject): string | null =>
  wordUnder(item, 'event') ?? wordUnder(item, 'operation') ?? wordUnder(item, 'action');

function operationOf(item: JsonObject, key: string | null): RawOperation {
  const event = eventOf(item);
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

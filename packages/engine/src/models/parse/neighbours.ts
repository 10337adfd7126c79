import type { Discard } from '../../plan.ts';
import type { Json } from '../../words.ts';
import { isObject, listed, listUnder, wordUnder } from './listed.ts';

/** What a model says of two memories; nothing in it is believed yet. */
export interface RawPair {
  readonly kind: 'same' | 'contradiction';
  readonly keep: string;
  readonly drop: string;
  readonly reason: string;
}

interface RawPairs {
  readonly usable: boolean;
  readonly pairs: readonly RawPair[];
  /** Entries of which nothing could be made, and those beyond what is read of one answer. */
  readonly unread: readonly Discard[];
}

/** More than there are pairs among the memories of one question. */
const PAIRS_MAX = 100;

/** The pairs of answers to a judge_neighbours call; null when they hold no list of them. */
export function pairsIn(...values: readonly Json[]): RawPairs | null {
  const lists = values.flatMap((value) => {
    const list = isObject(value) ? listUnder(value, ['pairs']) : null;
    return list === null ? [] : [list];
  });
  if (lists.length === 0) return null;
  const { usable, items, unread } = listed(lists, {
    what: ['a pair', 'pairs'],
    max: PAIRS_MAX,
    read: ({ item }) => pairOf(item),
  });
  return { usable, pairs: items, unread };
}

function pairOf(item: Json): RawPair | null {
  if (!isObject(item)) return null;
  const [kind, keep, drop] = ['kind', 'keep', 'drop'].map((key) => wordUnder(item, key));
  if ((kind !== 'same' && kind !== 'contradiction') || keep == null || drop == null) return null;
  return { kind, keep, drop, reason: wordUnder(item, 'reason') ?? '' };
}

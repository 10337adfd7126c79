import type { Discard } from '../../plan.ts';
import type { Json } from '../../words.ts';
import { isObject, listed, listUnder, textUnder, wordUnder } from './listed.ts';

/** What a model concludes; nothing in it is believed yet. */
export interface RawConclusion {
  readonly text: string;
  readonly evidence: readonly string[];
  readonly certainty: string;
  readonly reason: string;
}

interface RawConclusions {
  readonly usable: boolean;
  readonly conclusions: readonly RawConclusion[];
  /** Entries of which nothing could be made, and those beyond what is read of one answer. */
  readonly unread: readonly Discard[];
}

const CONCLUSIONS_MAX = 20;

/** The conclusions of answers to a find_patterns call; null when they hold no list of them. */
export function conclusionsIn(...values: readonly Json[]): RawConclusions | null {
  const lists = values.flatMap((value) => {
    const list = isObject(value) ? listUnder(value, ['conclusions']) : null;
    return list === null ? [] : [list];
  });
  if (lists.length === 0) return null;
  const { usable, items, unread } = listed(lists, {
    what: ['a conclusion', 'conclusions'],
    max: CONCLUSIONS_MAX,
    read: ({ item }) => conclusionOf(item),
  });
  return { usable, conclusions: items, unread };
}

function conclusionOf(item: Json): RawConclusion | null {
  if (!isObject(item)) return null;
  const text = textUnder(item, ['text']);
  if (text === null) return null;
  const evidence = (listUnder(item, ['evidence']) ?? []).flatMap(({ item: id }) =>
    typeof id === 'string' || typeof id === 'number' ? [String(id)] : [],
  );
  const [certainty, reason] = ['certainty', 'reason'].map((key) => wordUnder(item, key) ?? '');
  return { text, evidence, certainty: certainty ?? '', reason: reason ?? '' };
}

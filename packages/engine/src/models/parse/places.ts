import type { Discard } from '../../plan.ts';
import type { Json } from '../../words.ts';
import { isObject, listed, listUnder, wordUnder } from './listed.ts';

/** Where a model puts a memory; nothing in it is believed yet. */
export interface RawPlace {
  readonly id: string;
  readonly slot: string;
}

interface RawPlaces {
  readonly usable: boolean;
  readonly places: readonly RawPlace[];
  /** Entries of which nothing could be made, and those beyond what is read of one answer. */
  readonly unread: readonly Discard[];
}

const PLACES_MAX = 100;

/** The places of answers to a choose_slots call; null when they hold no list of them. */
export function placesIn(...values: readonly Json[]): RawPlaces | null {
  const lists = values.flatMap((value) => {
    const list = isObject(value) ? listUnder(value, ['places']) : null;
    return list === null ? [] : [list];
  });
  if (lists.length === 0) return null;
  const { usable, items, unread } = listed(lists, {
    what: ['a place', 'places'],
    max: PLACES_MAX,
    read: ({ item }) => placeOf(item),
  });
  return { usable, places: items, unread };
}

function placeOf(item: Json): RawPlace | null {
  if (!isObject(item)) return null;
  const [id, slot] = [wordUnder(item, 'id'), wordUnder(item, 'slot')];
  return id === null || slot === null ? null : { id, slot };
}

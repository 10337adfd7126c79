import type { Discard } from '../../plan.ts';
import type { Json, JsonObject } from '../../words.ts';
import { isObject, type Listed, listed, listUnder, textUnder, wordsUnder, wordUnder } from './listed.ts';

/** An entity as the model wrote it; nothing in it is believed yet. */
export interface RawEntity {
  readonly name: string;
  readonly kind: string | null;
  /** The short id of a known one that it is. */
  readonly known: string | null;
  readonly aliases: readonly string[];
}

/** A relation as the model wrote it; nothing in it is believed yet. */
export interface RawRelation {
  /** Names of entities, or how the user is called. */
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  readonly said: 'holds' | 'ended' | 'denied';
  readonly from: string | null;
  readonly until: string | null;
  /** The source has at most one such destination at a time, as far as the model knows. */
  readonly single: boolean;
  readonly sourceIds: readonly string[];
  readonly quote: string | null;
}

export interface RawGraph {
  readonly entities: readonly RawEntity[];
  readonly relations: readonly RawRelation[];
  /** Entries of which nothing could be made, and those beyond what is read of one answer. */
  readonly unread: readonly Discard[];
}

type Usable = Pick<Listed<unknown>, 'usable'>;

/** Entities, relations or decisions of one answer; a study keeps fewer. What comes after them is put aside. */
const GRAPH_ITEMS_MAX = 1_000;

const ENTITY_KEYS = ['entities', 'nodes'];
const RELATION_KEYS = ['relations', 'relationships', 'triplets', 'triples', 'edges'];
const NAME_KEYS = ['name', 'entity', 'text'];
const SOURCE_KEYS = ['source', 'subject', 'from_entity', 'head'];
const DESTINATION_KEYS = ['destination', 'target', 'object', 'to_entity', 'tail'];
const RELATIONSHIP_KEYS = ['relationship', 'relation', 'predicate', 'type'];

/** Entities and relations of answers to an extract_graph call; null when they hold neither list. */
export function graphIn(...values: readonly Json[]): (RawGraph & Usable) | null {
  const relations = readUnder(values, RELATION_KEYS, { what: ['a relation', 'relations'], read: relationOf });
  const entities = readUnder(values, ENTITY_KEYS, { what: ['an entity', 'entities'], read: entityOf });
  if (!relations.isThere && !entities.isThere) return null;
  return {
    usable: relations.usable || entities.usable,
    entities: entities.items,
    relations: relations.items,
    unread: [...entities.unread, ...relations.unread],
  };
}

function readUnder<T>(
  values: readonly Json[],
  keys: readonly string[],
  { what, read }: { readonly what: readonly [one: string, many: string]; readonly read: (item: Json) => T | null },
): Listed<T> & { readonly isThere: boolean } {
  const lists = values.flatMap((value) => {
    const list = isObject(value) ? listUnder(value, keys) : null;
    return list === null ? [] : [list];
  });
  const all = listed(lists, { what, max: GRAPH_ITEMS_MAX, read: ({ item }) => read(item) });
  return { ...all, usable: lists.length > 0 && all.usable, isThere: lists.length > 0 };
}

function entityOf(item: Json): RawEntity | null {
  if (typeof item === 'string' && item.trim() !== '') return { name: item, kind: null, known: null, aliases: [] };
  const name = isObject(item) ? textUnder(item, NAME_KEYS) : null;
  if (!isObject(item) || name === null) return null;
  return {
    name,
    kind: wordUnder(item, 'kind') ?? wordUnder(item, 'type'),
    known: wordUnder(item, 'known'),
    aliases: wordsUnder(item, 'aliases').filter((alias) => alias !== ''),
  };
}

function relationOf(item: Json): RawRelation | null {
  if (!isObject(item)) return null;
  const [source, relationship, destination] = [SOURCE_KEYS, RELATIONSHIP_KEYS, DESTINATION_KEYS].map((keys) =>
    textUnder(item, keys),
  );
  if (!source || !relationship || !destination) return null;
  return {
    source,
    relationship,
    destination,
    said: saidOf(item),
    from: wordUnder(item, 'from'),
    until: wordUnder(item, 'until'),
    single: item.single === true || item.single === 'true',
    sourceIds: wordsUnder(item, 'source_ids'),
    quote: wordUnder(item, 'quote'),
  };
}

function saidOf(item: JsonObject): RawRelation['said'] {
  const word = wordUnder(item, 'said')?.toLowerCase();
  return word === 'ended' || word === 'denied' ? word : 'holds';
}

/** What a model decided of relations that may conflict and names that may be of one; nothing in it is believed yet. */
export interface RawDecisions {
  readonly ends: readonly { readonly relation: string; readonly by: string | null; readonly reason: string }[];
  readonly pairs: readonly { readonly pair: string; readonly same: boolean; readonly reason: string }[];
  /** Entries of which nothing could be made, and those beyond what is read of one answer. */
  readonly unread: readonly Discard[];
}

/** The decisions of answers to a decide_graph call; null when they hold none of its lists. */
export function decisionsIn(...values: readonly Json[]): (RawDecisions & Usable) | null {
  const ends = readUnder(values, ['ends', 'ended'], { what: ['a decision', 'decisions'], read: endOf });
  const pairs = readUnder(values, ['pairs', 'same'], { what: ['a decision', 'decisions'], read: pairOf });
  if (!ends.isThere && !pairs.isThere) return null;
  return {
    usable: ends.usable || pairs.usable,
    ends: ends.items,
    pairs: pairs.items,
    unread: [...ends.unread, ...pairs.unread],
  };
}

function endOf(item: Json): RawDecisions['ends'][number] | null {
  const relation = isObject(item) ? wordUnder(item, 'relation') : null;
  if (!isObject(item) || relation === null) return null;
  return { relation, by: wordUnder(item, 'by'), reason: wordUnder(item, 'reason') ?? '' };
}

function pairOf(item: Json): RawDecisions['pairs'][number] | null {
  const pair = isObject(item) ? wordUnder(item, 'pair') : null;
  if (!isObject(item) || pair === null || (item.same !== true && item.same !== false)) return null;
  return { pair, same: item.same, reason: wordUnder(item, 'reason') ?? '' };
}

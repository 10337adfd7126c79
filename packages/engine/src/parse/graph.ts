import type { Json, JsonObject } from '../words.ts';
import { isObject, listUnder, textUnder, wordsUnder, wordUnder } from './shapes.ts';

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
}

const ENTITY_KEYS = ['entities', 'nodes'];
const RELATION_KEYS = ['relations', 'relationships', 'triplets', 'triples', 'edges'];
const NAME_KEYS = ['name', 'entity', 'text'];
const SOURCE_KEYS = ['source', 'subject', 'from_entity', 'head'];
const DESTINATION_KEYS = ['destination', 'target', 'object', 'to_entity', 'tail'];
const RELATIONSHIP_KEYS = ['relationship', 'relation', 'predicate', 'type'];

/** Entities and relations of an answer to an extract_graph call; null when it holds neither list. */
export function graphIn(value: Json): RawGraph | null {
  const relations = isObject(value) ? listUnder(value, RELATION_KEYS) : null;
  const entities = isObject(value) ? listUnder(value, ENTITY_KEYS) : null;
  if (relations === null && entities === null) return null;
  return {
    entities: (entities ?? []).flatMap(({ item }) => entityOf(item) ?? []),
    relations: (relations ?? []).flatMap(({ item }) => relationOf(item) ?? []),
  };
}

function entityOf(item: Json): RawEntity | null {
  if (typeof item === 'string') return { name: item, kind: null, known: null, aliases: [] };
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
}

/** The decisions of an answer to a decide_graph call; null when it holds none of its lists. */
export function decisionsIn(value: Json): RawDecisions | null {
  const ends = isObject(value) ? listUnder(value, ['ends', 'ended']) : null;
  const pairs = isObject(value) ? listUnder(value, ['pairs', 'same']) : null;
  if (ends === null && pairs === null) return null;
  return {
    ends: (ends ?? []).flatMap(({ item }) => endOf(item) ?? []),
    pairs: (pairs ?? []).flatMap(({ item }) => pairOf(item) ?? []),
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

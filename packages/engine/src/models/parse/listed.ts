import { FACT_MAX, TOO_LONG } from '../../consolidation/extract/rules.ts';
import { maskSecrets } from '../../masking/secrets.ts';
import type { Discard } from '../../plan.ts';
import { cleanText, Wording } from '../../text/normalise.ts';
import type { EventKind, Json, JsonObject } from '../../words.ts';

/** A fact as the model wrote it; nothing in it is believed yet. */
export interface RawFact {
  readonly text: string;
  /** The text as it is compared with others. */
  readonly words: Wording;
  /** Not as it stands in the answer: put together from several values of it, or cleaned. */
  readonly composed: boolean;
  readonly sourceIds: readonly string[];
  readonly quote: string | null;
  readonly category: string | null;
  readonly language: string | null;
  readonly validFrom: string | null;
  readonly about: string | null;
}

/**
 * Facts of one answer; what comes after them is put aside. A part of a conversation is 24,000 tokens, if nobody says
 * otherwise: one fact for each 24 of them.
 */
export const FACTS_MAX = 1_000;
/** Messages that one fact names: more say that it comes from everywhere, which is no source. */
const SOURCES_MAX = 100;
/** Longer than any category or name of a language. In characters. */
const WORD_MAX = 100;

const LIST_KEYS = ['facts', 'memory', 'memories', 'fact', 'results', 'extracted_facts'];
const TEXT_KEYS = ['text', 'fact', 'memory', 'content', 'data', 'statement', 'sentence', 'description'];
/** Of an answer that is one fact, and no list: "text" and the like may be about anything there. */
const SOLE_TEXT_KEYS = ['fact', 'memory', 'statement', 'facts'];
const LABEL_KEYS = ['name', 'key', 'attribute', 'property', 'field'];

/**
 * The facts of answers to an extract call; null when they hold no list of them. The same words from the same
 * messages count once; said in another message they may mean a return to what held before.
 */
export function factsIn(...values: readonly Json[]): Listed<RawFact> | null {
  const lists = values.flatMap((value) => {
    const items = factItemsIn(value);
    return items === null ? [] : [items];
  });
  if (lists.length === 0) return null;
  const read = listed(lists, { what: ['a fact', 'facts'], max: FACTS_MAX, read: ({ item }) => factOf(item) });
  return { ...read, items: eachOnce(read.items) };
}

function factItemsIn(value: Json): readonly Item[] | null {
  if (isObject(value) && SOLE_TEXT_KEYS.some((key) => textOfString(value[key]) !== null)) {
    const { facts, ...sole } = value;
    return [{ key: null, item: textOfString(facts) === null ? sole : (facts ?? null) }];
  }
  const lists = listsUnder(value, LIST_KEYS);
  if (lists.length === 0) return null;
  return lists.flatMap((items) => (isOneFact(items) ? [{ key: null, item: asObject(items) }] : withoutGroups(items)));
}

/** One fact where a list of them belongs: its keys are those of a fact. */
function isOneFact(items: readonly Item[]): boolean {
  const texts = items.filter(({ key, item }) => key !== null && typeof item === 'string').map(({ key }) => key ?? '');
  const isLabelled = texts.includes('value') && texts.some((key) => LABEL_KEYS.includes(key));
  return isLabelled || texts.some((key) => TEXT_KEYS.includes(key));
}

const asObject = (items: readonly Item[]): JsonObject =>
  Object.fromEntries(items.map(({ key, item }) => [key ?? '', item]));

/** Some models put facts in groups: {"topic": "home", "facts": […]}. */
const withoutGroups = (items: readonly Item[]): readonly Item[] =>
  items.some(isGroup)
    ? items.flatMap((item) => (isGroup(item) ? (listUnder(item.item, ['facts']) ?? []) : [item]))
    : items;

const isGroup = ({ item }: Item): boolean =>
  isObject(item) && Array.isArray(item.facts) && textUnder(item, TEXT_KEYS) === null;

const eachOnce = (facts: readonly RawFact[]): readonly RawFact[] =>
  facts.filter(firstOfEach(({ words, sourceIds }) => ({ words, from: sourceIds })));

/** What somebody said, and where. */
interface Saying {
  readonly words: Wording;
  readonly from: readonly string[];
}

/** Says of things one by one whether none before has the same words from the same place. Places are compared only where words are the same. */
export function firstOfEach<T>(sayingOf: (one: T) => Saying): (one: T) => boolean {
  const begun = new Map<string, Saying>();
  const first = new Map<string, Saying>();
  const again = new Set<string>();
  return (one) => {
    const saying = sayingOf(one);
    const { words } = saying;
    const alike = begun.get(words.begin);
    if (alike === undefined) {
      begun.set(words.begin, saying);
      return true;
    }
    first.set(alike.words.whole, alike);
    const before = first.get(words.whole);
    if (before === undefined) {
      first.set(words.whole, saying);
      return true;
    }
    again.add(keyOf(before));
    const { size } = again;
    return again.add(keyOf(saying)).size > size;
  };
}

const keyOf = ({ words, from }: Saying): string => [words.whole, ...from].join('\n');

function factOf(item: Json): RawFact | null | { readonly refused: string } {
  const said = textOfString(item) ?? (isObject(item) ? textUnder(item, TEXT_KEYS) : null);
  const text = said ?? (isObject(item) ? (labelled(item) ?? triple(item)) : null);
  if (text === null) return null;
  if (text.length > FACT_MAX) return { refused: TOO_LONG };
  const words = new Wording(text);
  if (!isObject(item)) return { ...UNATTRIBUTED, text, words, composed: text !== item };
  const quote = wordUpTo(FACT_MAX, item, 'quote');
  return {
    text,
    words,
    composed: text !== item.text || (quote !== null && quote !== item.quote),
    sourceIds: wordsUnder(item, 'source_ids', SOURCES_MAX),
    quote,
    category: wordUpTo(WORD_MAX, item, 'category'),
    language: wordUpTo(WORD_MAX, item, 'language'),
    validFrom: wordUnder(item, 'valid_from'),
    about: wordUnder(item, 'about'),
  };
}

function wordUpTo(most: number, item: JsonObject, key: string): string | null {
  const word = wordUnder(item, key);
  return word === null || word.length <= most ? word : word.slice(0, most).toWellFormed();
}

/** {"name": "hobby", "value": "hiking"} */
function labelled(item: JsonObject): string | null {
  const label = textUnder(item, LABEL_KEYS);
  const value = wordUnder(item, 'value') ?? (wordsUnder(item, 'value').join(', ') || null);
  return label === null || value === null ? null : `${label}: ${value}`;
}

/** {"subject": "User", "predicate": "likes", "object": "hiking"} */
function triple(item: JsonObject): string | null {
  const words = ['subject', 'predicate', 'object'].map((key) => wordUnder(item, key));
  return words.includes(null) ? null : words.join(' ');
}

const UNATTRIBUTED: Omit<RawFact, 'text' | 'words' | 'composed'> = {
  sourceIds: [],
  quote: null,
  category: null,
  language: null,
  validFrom: null,
  about: null,
};

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

const OPERATION_TEXT_KEYS = ['text', 'memory', 'content', 'new_memory', 'data'];
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
    ? OPERATION_LIST_KEYS.map((key) => value[key]).find((one) => isObject(one) && eventOf(one) !== null)
    : undefined;
  return list === undefined ? listUnder(value, OPERATION_LIST_KEYS) : [{ key: null, item: list }];
}

const OPERATION_LIST_KEYS = ['operations', 'memory', 'memories', 'results'];

const eventOf = (item: JsonObject): string | null =>
  wordUnder(item, 'event') ?? wordUnder(item, 'operation') ?? wordUnder(item, 'action');

function operationOf(item: JsonObject, key: string | null): RawOperation {
  const event = eventOf(item);
  const isKeyedByFact = key !== null && /^f\d+$/u.test(key);
  return {
    fact: wordUnder(item, 'fact') ?? (isKeyedByFact ? key : null),
    event: event === null ? null : (EVENTS[event.toUpperCase().replaceAll(/[\s-]/gu, '_')] ?? null),
    id: wordUnder(item, 'id') ?? wordUnder(item, 'memory_id') ?? (isKeyedByFact ? null : key),
    text: textUnder(item, OPERATION_TEXT_KEYS),
    reason: wordUnder(item, 'reason'),
    keep: item.keep !== false && item.keep !== 'false',
  };
}

/** The items of a list as a model wrote it, and what could not be made items, with the reason. */
export interface Listed<T> {
  readonly items: readonly T[];
  readonly unread: readonly Discard[];
  /** false: there are entries, and none of them can be read, so that this is not what was asked for. An empty list is. */
  readonly usable: boolean;
}

interface Reader<T> {
  /** What one item is called, and several, for the reasons: ["a fact", "facts"]. */
  readonly what: readonly [one: string, many: string];
  /** Items that are looked at; what comes after them is put aside. */
  readonly max: number;
  /** The item, null where nothing can be made of it, or why it is not taken. */
  read(item: Item): T | null | { readonly refused: string };
}

/** Lists in lists, at most; deeper ones are no list of anything. */
const DEPTH_MAX = 4;
/** Of what is put aside, so many are listed one by one; the rest is counted. */
const EXCERPTS_MAX = 200;

/** Reads lists as one. Every entry becomes an item or is listed as unread. */
function listed<T>(lists: readonly (readonly Item[])[], { what, max, read }: Reader<T>): Listed<T> {
  const [one, many] = what;
  const items: T[] = [];
  const aside = new Aside();
  let entries = 0;
  let readable = 0;
  for (const item of leavesOf(lists.flat())) {
    entries += 1;
    if (entries > max) {
      aside.put(item.item, `more than ${max} ${many} in one answer`);
      continue;
    }
    const made = read(item);
    if (made === null) aside.put(item.item, `cannot be read as ${one}`);
    else if (isRefused(made)) aside.put(item.item, made.refused);
    else items.push(made);
    if (made !== null) readable += 1;
  }
  return { items, unread: aside.excerpts(), usable: entries === 0 || readable > 0 };
}

/** The items of the lists under these keys in answers to one call; null: there is no such list. */
export function listedUnder<T>(values: readonly Json[], keys: readonly string[], reader: Reader<T>): Listed<T> | null {
  const lists = values.flatMap((value) => (isObject(value) ? listsUnder(value, keys).slice(0, 1) : []));
  return lists.length === 0 ? null : listed(lists, reader);
}

const isRefused = (made: unknown): made is { readonly refused: string } =>
  typeof made === 'object' && made !== null && 'refused' in made;

/** What is in lists of lists; an empty one inside of another is an entry of which nothing can be made. */
function leavesOf(list: readonly Item[], depth = 0): readonly Item[] {
  const isLeaf = ({ item }: Item): boolean => !Array.isArray(item) || item.length === 0 || depth === DEPTH_MAX;
  if (list.every(isLeaf)) return list;
  return list.flatMap((item) => (isLeaf(item) ? [item] : leavesOf(itemsOf(item.item) ?? [], depth + 1)));
}

/** What is put aside, in order. Whoever sends a million entries learns how many there were, not each of them. */
class Aside {
  readonly #excerpts: Discard[] = [];
  readonly #more = new Map<string, number>();

  put(item: Json, reason: string): void {
    if (this.#excerpts.length < EXCERPTS_MAX) this.#excerpts.push({ text: excerptOf(item), reason });
    else this.#more.set(reason, (this.#more.get(reason) ?? 0) + 1);
  }

  excerpts(): readonly Discard[] {
    return [...this.#excerpts, ...[...this.#more].map(([reason, count]) => ({ text: `${count} more`, reason }))];
  }
}

/** Enough to recognise it by; whatever it is, and without a secret. In characters. */
const EXCERPT_MAX = 200;

const excerptOf = (item: Json): string =>
  maskSecrets(
    typeof item === 'string' ? item.slice(0, EXCERPT_MAX) : JSON.stringify(shallow(item, 0)).slice(0, EXCERPT_MAX),
  ).text.toWellFormed();

/** As much of a value as an excerpt can show. */
function shallow(value: Json, depth: number): Json {
  if (typeof value === 'string') return value.slice(0, EXCERPT_MAX);
  if (Array.isArray(value))
    return depth === DEPTH_MAX ? ['…'] : value.slice(0, 10).map((one) => shallow(one, depth + 1));
  if (!isObject(value)) return value;
  const entries = depth === DEPTH_MAX ? [] : Object.entries(value).slice(0, 10);
  return Object.fromEntries(entries.map(([key, one]) => [key.slice(0, EXCERPT_MAX), shallow(one, depth + 1)]));
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One entry of a list, or of an object used as one. */
interface Item {
  readonly key: string | null;
  readonly item: Json;
}

/** The items of a list, or of an object used as one; null when it is neither. An object without entries is no list. */
function itemsOf(value: Json | undefined): readonly Item[] | null {
  if (Array.isArray(value)) return value.map((item) => ({ key: null, item }));
  if (!isObject(value)) return null;
  const items = Object.entries(value).map(([key, item]) => ({ key, item }));
  return items.length === 0 ? null : items;
}

/** The list under the first of these keys that has one. */
export const listUnder = (value: Json, keys: readonly string[]): readonly Item[] | null =>
  listsUnder(value, keys)[0] ?? null;

/** The lists under all of these keys. */
function listsUnder(value: Json, keys: readonly string[]): readonly (readonly Item[])[] {
  const places = isObject(value) ? keys.map((key) => value[key]) : Array.isArray(value) ? [value] : [];
  return places.flatMap((place) => {
    const items = isSchema(place) ? null : itemsOf(place);
    return items === null ? [] : [items];
  });
}

/** The schema of a list, repeated where the list belongs. */
const isSchema = (value: Json | undefined): boolean => isObject(value) && value.type === 'array';

/** Texts in texts, at most. */
const WRAPPED_MAX = 4;

/** A text under the first of these keys, also when it is wrapped once more: {"text": {"text": "…"}}. */
export function textUnder(item: JsonObject, keys: readonly string[], depth = 0): string | null {
  for (const key of keys) {
    const value = item[key];
    const text = textOfString(value);
    if (text !== null) return text;
    const inner = isObject(value) && depth < WRAPPED_MAX ? textUnder(value, keys, depth + 1) : null;
    if (inner !== null) return inner;
  }
  return null;
}

/** A string with something in it. Cleaned here as well: escapes in JSON can bring half characters back. */
export function textOfString(value: Json | undefined): string | null {
  const text = typeof value === 'string' ? cleanText(value).trim() : '';
  return text === '' ? null : text;
}

/** A word the model should have written as a string: numbers count as well. */
export function wordUnder(item: JsonObject, key: string): string | null {
  const value = item[key];
  return typeof value === 'number' ? String(value) : textOfString(value);
}

/** The same of a list of them. */
export function wordsUnder(item: JsonObject, key: string, max = Number.POSITIVE_INFINITY): readonly string[] {
  const value = item[key];
  const words: string[] = [];
  for (const word of Array.isArray(value) ? value : [value]) {
    if (words.length === max) break;
    if (typeof word === 'string') words.push(word.trim());
    else if (typeof word === 'number') words.push(String(word));
  }
  return words;
}

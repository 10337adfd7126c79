import { FACT_MAX, TOO_LONG } from '../../consolidation/extract/junk.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { Json, JsonObject } from '../../words.ts';
import {
  type Item,
  isObject,
  type Listed,
  listed,
  listsUnder,
  listUnder,
  textOfString,
  textUnder,
  wordsUnder,
  wordUnder,
} from './listed.ts';

/** A fact as the model wrote it; nothing in it is believed yet. */
export interface RawFact {
  readonly text: string;
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
/** Of an answer that is one fact, and no list: "text" and the like may tell of anything there. */
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

function eachOnce(facts: readonly RawFact[]): readonly RawFact[] {
  const seen = new Set<string>();
  return facts.filter(({ text, sourceIds }) => {
    const before = seen.size;
    return seen.add(`${normaliseText(text)}\n${sourceIds.join('\n')}`).size > before;
  });
}

function factOf(item: Json): RawFact | null | { readonly refused: string } {
  const text =
    textOfString(item) ?? (isObject(item) ? (textUnder(item, TEXT_KEYS) ?? labelled(item) ?? triple(item)) : null);
  if (text === null) return null;
  if (text.length > FACT_MAX) return { refused: TOO_LONG };
  if (!isObject(item)) return { ...UNATTRIBUTED, text };
  return {
    text,
    sourceIds: wordsUnder(item, 'source_ids').slice(0, SOURCES_MAX),
    quote: wordUpTo(FACT_MAX, item, 'quote'),
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

const UNATTRIBUTED: Omit<RawFact, 'text'> = {
  sourceIds: [],
  quote: null,
  category: null,
  language: null,
  validFrom: null,
  about: null,
};

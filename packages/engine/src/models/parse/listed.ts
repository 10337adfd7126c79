import { maskSecrets } from '../../masking/secrets.ts';
import type { Discard } from '../../plan.ts';
import { cleanText } from '../../text/normalise.ts';
import type { Json, JsonObject } from '../../words.ts';

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
/** Of what is put aside, so many are told one by one; the rest is counted. */
const EXCERPTS_MAX = 200;

/** Reads lists as one. Every entry becomes an item or is told of. */
export function listed<T>(lists: readonly (readonly Item[])[], { what, max, read }: Reader<T>): Listed<T> {
  const [one, many] = what;
  const items: T[] = [];
  const aside = new Aside();
  let entries = 0;
  let readable = 0;
  for (const item of leavesOf(lists.flat(), 0)) {
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

const isRefused = (made: unknown): made is { readonly refused: string } =>
  typeof made === 'object' && made !== null && 'refused' in made;

/** What is in lists of lists; an empty one inside of another is an entry of which nothing can be made. */
function* leavesOf(list: readonly Item[], depth: number): Generator<Item> {
  for (const item of list) {
    if (!Array.isArray(item.item) || item.item.length === 0 || depth === DEPTH_MAX) yield item;
    else
      yield* leavesOf(
        item.item.map((inner) => ({ key: null, item: inner })),
        depth + 1,
      );
  }
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
export interface Item {
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
export function listsUnder(value: Json, keys: readonly string[]): readonly (readonly Item[])[] {
  const places = isObject(value) ? keys.map((key) => value[key]) : Array.isArray(value) ? [value] : [];
  return places.flatMap((place) => {
    const items = itemsOf(place);
    return items === null ? [] : [items];
  });
}

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

export function wordsUnder(item: JsonObject, key: string): readonly string[] {
  const value = item[key];
  const list = Array.isArray(value) ? value : [value ?? null];
  return list.filter((word) => typeof word === 'string' || typeof word === 'number').map((word) => String(word).trim());
}

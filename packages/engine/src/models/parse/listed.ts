import { maskSecrets } from '../../masking/secrets.ts';
import type { Discard } from '../../plan.ts';
import type { Json } from '../../words.ts';
import { type Item, isObject } from './shapes.ts';

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
const TOLD_MAX = 200;

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
  return { items, unread: aside.told(), usable: entries === 0 || readable > 0 };
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
  readonly #told: Discard[] = [];
  readonly #more = new Map<string, number>();

  put(item: Json, reason: string): void {
    if (this.#told.length < TOLD_MAX) this.#told.push({ text: excerptOf(item), reason });
    else this.#more.set(reason, (this.#more.get(reason) ?? 0) + 1);
  }

  told(): readonly Discard[] {
    return [...this.#told, ...[...this.#more].map(([reason, count]) => ({ text: `${count} more`, reason }))];
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

import { cleanText } from '../../text/normalise.ts';
import type { Json } from '../../words.ts';
import { type Loose, parsed, readLoose, readSound } from './json.ts';
import { isObject, textUnder } from './listed.ts';

/** What could be read from a model's answer. */
export interface Reading<T> {
  readonly value: T;
  /** false when the answer broke off: there may have been more. */
  readonly complete: boolean;
  /** The JSON it was read from, where that is JSON as it stands in the answer; null where anything was mended or passed over. */
  readonly json: string | null;
}

/**
 * What is wanted of the JSON in an answer; null where there is nothing of it. Of several values a list has the items of all.
 * One that is not `usable` has entries of which nothing can be made: no answer, but noted beside one.
 */
export type Shape<T> = (value: Json, ...more: Json[]) => T | null;

/**
 * The one way from a model's text to a value: thinking, fences, prose and special tokens around the JSON are passed over.
 * All values count in which `shape` finds what it wants; one that breaks off says that there may have been more. null:
 * nothing usable. The text is read a few times at most, whatever it holds.
 */
export function readAnswer<T>(text: string, shape: Shape<T>): Reading<T> | null {
  const json = BEHIND_JSON.has(text.trimEnd().slice(-1)) ? parsed(text) : undefined;
  if (typeof json === 'string') return withoutJson(readText(json.trim(), shape));
  if (json !== undefined) return wholeOf(shapedIn(isSoleFact(json) ? [json] : json, shape), shape, text);
  const cutOff = readCutOff(text, shape);
  if (cutOff !== null) return cutOff;
  const clean = cleanText(text);
  const reading = readText(clean.trim(), shape);
  const isAsItStands = clean === text && !text.includes('<') && !text.trimStart().startsWith('"');
  return isAsItStands ? reading : withoutJson(reading);
}

/** One fact in the place of all: nothing else names its sources. Inside of what is broken it is one of several. */
const isSoleFact = (json: Json): boolean => isObject(json) && 'source_ids' in json && typeof json.text === 'string';

const withoutJson = <T>(reading: Reading<T> | null): Reading<T> | null => reading && { ...reading, json: null };

/** What is JSON from its first character to where it breaks off. Its texts are cleaned one by one. */
function readCutOff<T>(text: string, shape: Shape<T>): Reading<T> | null {
  const sound = isJsonFirst(text) && !text.includes('<') ? readSound(text, 0) : null;
  if (sound?.complete !== false) return null;
  const reading = wholeOf(shapedIn(sound.value ?? null, shape).slice(0, 1), shape);
  return reading === null ? null : { ...reading, complete: false };
}

/** Whether texts stand in JSON letter by letter: none of them is spelt in another way, but for what a backslash alone stands before. */
export const saysLiterally = (json: string): boolean => !json.includes('\\u') && !json.includes('\\/');

/** What nothing of this stands behind broke off: to parse it would show no more. */
const BEHIND_JSON: ReadonlySet<string> = new Set(['}', ']', '"']);

function readText<T>(text: string, shape: Shape<T>): Reading<T> | null {
  const given = unquoted(text);
  const json = onlyJsonIn(given);
  if (json !== undefined) return wholeOf(shapedIn(json, shape), shape, given);
  // What is JSON from its first character on is taken as it is: a thinking tag in it is part of what it says.
  const first = isJsonFirst(given) ? readFast(given, 0) : null;
  const isWhole = first?.complete === true && !endsThinking(given.slice(first.end));
  const whole = isWhole ? shapedIn(first.value ?? null, shape) : [];
  let broken: Shaped<T> | undefined;
  const rest = bare(isWhole ? given.slice(first.end) : given);
  for (const { value, complete } of valuesIn(rest, { text: given, first })) {
    const found = shapedIn(value, shape);
    if (complete) whole.push(...found);
    // After a whole value a lone bracket of the prose behind it breaks nothing off.
    else broken = found.find(({ json }) => whole.length === 0 || isObject(json));
    // It goes on to the end of the text.
    if (broken !== undefined) break;
  }
  const reading = wholeOf(broken === undefined ? whole : [...whole, broken], shape);
  return reading === null || broken === undefined ? reading : { ...reading, complete: false };
}

function wholeOf<T>(found: readonly Shaped<T>[], shape: Shape<T>, json: string | null = null): Reading<T> | null {
  const [first, ...more] = found;
  if (first === undefined) return null;
  const value = more.length === 0 ? first.value : shape(first.json, ...more.map(({ json }) => json));
  return value === null || !isUsable(value) ? null : { value, complete: true, json };
}

const isUsable = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || !('usable' in value) || value.usable === true;

/** The text without what models put around their answers. */
const bare = (text: string): string =>
  text.includes('<') ? withoutThinking(text.replace(/<\|[^|>]*\|>/gu, ' ')) : text;

/** Some models write the whole answer as one JSON string. */
function unquoted(text: string): string {
  if (!/^"\s*[\\{[]/u.test(text)) return text;
  const { complete, value } = readLoose(text, 0);
  return complete && typeof value === 'string' ? value.trim() : text;
}

const isJsonFirst = (text: string): boolean => /^[[{]/u.test(text);

/** The value between the first bracket and the last, where all of that is JSON: read many times as fast as by hand. */
function onlyJsonIn(given: string): Json | undefined {
  const text = isJsonFirst(given) ? given : bare(given);
  const start = text.search(/[[{]/u);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  const rest = text.slice(end);
  if (start === -1 || end <= start || /[[{]/u.test(rest) || endsThinking(rest)) return undefined;
  // What is cut off mostly ends with a bracket of the other kind: to parse it would show no more.
  if ((text[start] === '{') !== (text[end - 1] === '}')) return undefined;
  return parsed(text.slice(start, end));
}

/** More brackets than any prose around an answer has. */
const STARTS_MAX = 200;
/** How many times the length of a text is read of it, where brackets open inside of what cannot be read. */
const READ_MAX = 3;

/** What is JSON as far as it goes is parsed, and read by hand only where it breaks off. */
const readFast = (text: string, start: number): Loose => readSound(text, start) ?? readLoose(text, start);

interface Before {
  readonly text: string;
  readonly first: Loose | null;
}

/**
 * Every JSON object or array in a text, in order; what is inside of one only where the whole cannot be read. `before` is a
 * text that was read before, with what begins it.
 */
function* valuesIn(text: string, before: Before): Generator<{ readonly value: Json; readonly complete: boolean }> {
  const known = before.text === text ? before.first : null;
  const opening = /[[{]/gu;
  let room = READ_MAX * text.length;
  for (let starts = 0; starts < STARTS_MAX && room > 0; starts += 1) {
    const found = opening.exec(text);
    if (found === null) return;
    const read = starts === 0 ? readFast : readLoose;
    const { value, end, complete } = (found.index === 0 ? known : null) ?? read(text, found.index);
    room -= end - found.index;
    if (value === undefined) continue;
    yield { value: underItsKey(text, found.index, value), complete };
    if (complete) opening.lastIndex = end;
  }
}

/** Longer than any key of an answer. */
const KEY_MAX = 60;

/** A value inside of a broken object is still only what its key says: ["m0"] under "source_ids" is no list of facts. */
function underItsKey(text: string, at: number, value: Json): Json {
  const before = text.slice(Math.max(0, at - KEY_MAX), at);
  const key = /["']([^"'\n]*)["']\s*:\s*$/u.exec(before)?.[1];
  return key === undefined ? value : { [key]: value };
}

/** How deep what is wanted may be wrapped, and how many values are looked at: {"name": …, "arguments": {"facts": …}}. */
const WRAPPED_MAX = 6;
const LOOKED_AT_MAX = 1_000;

/** A value inside of another, and the same under its key. */
interface Inner {
  readonly value: Json;
  readonly keyed: Json;
  /** Where it stands in entries of which nothing can be made. */
  readonly inside?: Barren<unknown>;
}

/** Such entries. What is found inside of them after all is what was meant. */
interface Barren<T> extends Shaped<T> {
  isRead: boolean;
}

/** A value with what is wanted of it. */
interface Shaped<T> {
  readonly json: Json;
  readonly value: T;
}

/** The outermost values in which `shape` finds what it wants, then those in which it finds what cannot be read. */
function shapedIn<T>(whole: Json, shape: Shape<T>): Shaped<T>[] {
  const sifted: Sifted<T> = { found: [], barren: [] };
  let level: readonly Inner[] = [{ value: whole, keyed: whole }];
  for (let depth = 0; depth < WRAPPED_MAX && level.length > 0; depth += 1) {
    level = level.slice(0, LOOKED_AT_MAX).flatMap((inner) => sift(inner, shape, sifted));
  }
  return [...sifted.found, ...sifted.barren.filter(({ isRead }) => !isRead)];
}

interface Sifted<T> {
  readonly found: Shaped<T>[];
  readonly barren: Barren<T>[];
}

/** Looks at one value; where it is not what is wanted, at what is inside of it next. */
function sift<T>({ value, keyed, inside }: Inner, shape: Shape<T>, { found, barren }: Sifted<T>): readonly Inner[] {
  const shaped = shape(keyed);
  if (shaped !== null && isUsable(shaped)) {
    found.push({ json: keyed, value: shaped });
    if (inside !== undefined) inside.isRead = true;
    return [];
  }
  if (shaped === null || inside !== undefined)
    return innerOf(value).map((inner) => ({ ...inner, ...(inside && { inside }) }));
  const own = { json: keyed, value: shaped, isRead: false };
  barren.push(own);
  return innerOf(value).map((inner) => ({ ...inner, inside: own }));
}

function innerOf(value: Json): readonly Inner[] {
  if (Array.isArray(value))
    return value.slice(0, LOOKED_AT_MAX).flatMap((one) => (isObject(one) ? [{ value: one, keyed: one }] : []));
  if (!isObject(value)) return [];
  const entries = Object.entries(value).slice(0, LOOKED_AT_MAX);
  return entries.flatMap(([key, one]) =>
    typeof one === 'object' && one !== null ? [{ value: one, keyed: { [key]: one } }] : [],
  );
}

/** What is wanted of an answer that is one text, under the first of these keys. */
export const textUnderKeys =
  (...keys: readonly string[]) =>
  (value: Json): string | null =>
    isObject(value) ? textUnder(value, keys) : null;

const TAG = /<(\/?)(?:think|thinking|reasoning|thought)>/giu;

/**
 * The text without what a model thought aloud. A thinking tag may never have been opened, or never closed: then all
 * before, or all after it, is thinking. In one pass: text from outside may hold any number of tags.
 */
function withoutThinking(text: string): string {
  let said = '';
  let from = 0;
  let isThinking = false;
  for (const tag of text.matchAll(TAG)) {
    const isClosing = tag[1] === '/';
    if (isClosing && !isThinking) said = '';
    if (!isClosing && !isThinking) said += `${text.slice(from, tag.index)} `;
    if (isClosing) from = tag.index + tag[0].length;
    isThinking = !isClosing;
  }
  return isThinking ? said : said + text.slice(from);
}

/** Whether a text begins inside of thinking that was never opened. */
const endsThinking = (text: string): boolean => text.match(TAG)?.[0].startsWith('</') === true;

import { counted, hasImage, type MessageBody } from '@slowwave/contracts';
import type { FastifySchemaCompiler } from 'fastify';
import { core } from 'zod';
import { type InputMistake, type ProblemError, problem, shorten } from './errors.ts';

/** The most mistakes in one response. Nobody reads more, and finding them would delay others. */
const MISTAKES_MAX = 20;
const SHOWN = MISTAKES_MAX + 1;

const PLACES: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
};

/**
 * Checks a part of a request against its schema; a mismatch becomes a problem that names every mistake. The check is made with the
 * first request: most routes of most processes are asked for nothing, and those of all would delay every start.
 */
export const validator: FastifySchemaCompiler<core.$ZodType> = ({ schema, httpPart }) => {
  let check: ReturnType<FastifySchemaCompiler<core.$ZodType>> | null = null;
  return (data: unknown) => {
    check ??= checkOf(schema, httpPart);
    return check(data);
  };
};

function checkOf(
  schema: core.$ZodType,
  httpPart: string | undefined,
): ReturnType<FastifySchemaCompiler<core.$ZodType>> {
  const place = PLACES[httpPart ?? 'body'] ?? 'the request';
  stopAtEnough(schema);
  const ofNothing = httpPart === 'headers' || httpPart === 'querystring' ? known(schema, httpPart) : null;
  return (data: unknown) => {
    const value = ofNothing?.(data) ?? null;
    if (value !== null) return { value };
    if (httpPart === 'body' && (data === null || data === undefined)) return { error: emptyBody() };
    const result = core.safeParse(schema, data, { error: wording });
    return result.success ? { value: result.data } : { error: invalid(place, mistakes(result.error.issues, data)) };
  };
}

/** zod would put all unknown fields in one text; here up to twenty are listed one by one. */
const wording: core.$ZodErrorMap = ({ code }) => (code === 'unrecognized_keys' ? 'unknown fields' : undefined);

/**
 * The result for a part without any described field, which is the usual case: computed once instead of with every request.
 * Other headers are passed on unchanged. Returns null if the schema must check.
 */
function known(schema: core.$ZodType, part: 'headers' | 'querystring'): ((data: unknown) => object | null) | null {
  if (!(schema instanceof core.$ZodObject)) return null;
  const nothing = core.safeParse(schema, {});
  const names = Object.keys(schema._zod.def.shape);
  if (!nothing.success || (part === 'headers' && !passesOthers(schema))) return null;
  return (data) => {
    if (typeof data !== 'object' || data === null) return null;
    if (part === 'headers') return names.some((name) => name in data) ? null : data;
    for (const _name in data) return null;
    return { ...nothing.data };
  };
}

/** Whether other headers are unchecked, and missing ones get no default. */
function passesOthers(schema: core.$ZodObject): boolean {
  const { catchall, checks = [] } = schema._zod.def;
  const made = core.safeParse(schema, { other: '' });
  const asItWas = made.success && Object.keys(made.data).join() === 'other';
  return catchall?._zod.def.type === 'unknown' && checks.length === 0 && asItWas;
}

function invalid(place: string, errors: readonly InputMistake[]): ProblemError {
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const others = Math.min(errors.length, MISTAKES_MAX) - 1;
  const least = errors.length > MISTAKES_MAX ? 'at least ' : '';
  const more = others > 0 ? ` (and ${least}${others} more, see errors)` : '';
  const detail = `${place} is not valid: ${where}${first?.message ?? 'it does not match the schema'}${more}`;
  return problem('invalid_request', detail, { errors: errors.slice(0, MISTAKES_MAX) });
}

function emptyBody(): ProblemError {
  return problem('invalid_request', 'expected a JSON object as the body, got none; send one as application/json');
}

type Issue = core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * One entry per mistake, with its path, what was expected and what was got. One more than a response lists means that there
 * are more.
 */
export function mistakes(issues: readonly Issue[], input: unknown): readonly InputMistake[] {
  return issues
    .slice(0, SHOWN)
    .flatMap((issue) => describe(issue, [], input))
    .slice(0, SHOWN);
}

function describe(issue: Issue, prefix: Path, input: unknown): InputMistake[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return describeUnion(issue, path, input);
  if (issue.code === 'unrecognized_keys') return issue.keys.slice(0, SHOWN).map((key) => unknownField([...path, key]));
  if (issue.code === 'invalid_key') return [{ path: shorten(written(path)), message: keyMessage(issue) }];
  return [{ path: written(path), message: messageOf(issue, valueAt(input, path)) }];
}

function messageOf(issue: Issue, value: unknown): string {
  const wanted = expectation(issue);
  if (wanted !== null) return `expected ${wanted}, got ${got(value)}`;
  return issue.code === 'invalid_format' ? `${issue.message}, got ${got(value)}` : issue.message;
}

const unknownField = (path: Path): InputMistake => ({
  path: shorten(written(path)),
  message: 'unknown field; remove it or correct its name',
});

function keyMessage(issue: core.$ZodIssueInvalidKey): string {
  const wanted = issue.issues.map(expectation).find((text) => text !== null);
  return wanted === undefined ? issue.message : `expected a key of ${wanted}, got ${got(String(issue.path.at(-1)))}`;
}

/**
 * A union fails once per branch. Branches that fail at the value itself are of another kind altogether; when one
 * branch is left, its mistakes are what the caller wants to know.
 */
function describeUnion(issue: core.$ZodIssueInvalidUnion, path: Path, input: unknown): InputMistake[] {
  const fitting = issue.errors.filter((branch) => !branch.some(isOtherKind));
  const only = fitting[0];
  if (fitting.length === 1 && only !== undefined) return only.flatMap((inner) => describe(inner, path, input));
  const kinds = issue.errors.flatMap((branch) => branch.filter(isOtherKind).map((inner) => expectation(inner) ?? ''));
  const wanted = [...new Set(kinds)].filter((kind) => kind !== '').join(' or ') || 'one of the allowed forms';
  return [{ path: written(path), message: `expected ${wanted}, got ${got(valueAt(input, path))}` }];
}

const isOtherKind = (issue: Issue): boolean => issue.code === 'invalid_type' && issue.path.length === 0;

/** What was expected; null if the schema's own message says it. */
function expectation(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return withArticle(issue.expected);
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${bound(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${bound(issue.minimum, issue.origin)}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'invalid_format':
      return issue.format === 'datetime' ? 'an ISO 8601 time with a UTC offset, like 2026-03-01T09:30:00Z' : null;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) ? oneOf(issue.options) : 'one of the allowed forms';
    default:
      return null;
  }
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' };

function bound(count: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined ? String(count) : counted(count, unit);
}

const ARTICLES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  object: 'an object',
  array: 'an array',
  record: 'an object',
  boolean: 'true or false',
  null: 'null',
};
const withArticle = (kind: string): string => ARTICLES[kind] ?? `a ${kind}`;

function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value === 'string' && typeof key === 'number') {
      value = value.split(',')[key]; // a list in an address is one text
      continue;
    }
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }
  return value;
}

/** messages[0].content; empty for the input itself. */
function written(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** The longest value that a response repeats, in characters of JSON. */
const ECHO_MAX = 60;

/** A given value in a few words: its kind, and itself where it is short. */
function got(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return echoed(value, `${value.length} characters of text`);
  return `the ${typeof value} ${String(value)}`;
}

function echoed(value: string, otherwise: string): string {
  if (value.length > ECHO_MAX) return otherwise; // written as JSON it is longer still, and may be megabytes
  const json = JSON.stringify(value);
  return json.length > ECHO_MAX ? otherwise : json;
}

/**
 * Makes every list of a schema stop once it has as many mistakes as a response lists; zod itself checks all items, or stops
 * at the first mistake. Texts that are too long get no further checks, which would read megabytes.
 */
function stopAtEnough(schema: core.$ZodType): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  if (schema instanceof core.$ZodArray) stopList(schema);
  if (schema instanceof core.$ZodString) for (const size of core.util.sizeCaps(schema._zod.def.checks)) stopAt(size);
  for (const part of partsOf(schema)) stopAtEnough(part);
}

/** Schemas are shared between routes, and refer to themselves. */
const seen = new WeakSet<core.$ZodType>();

/** The schemas inside a schema of any kind. */
function partsOf(schema: core.$ZodType): readonly core.$ZodType[] {
  if (schema instanceof core.$ZodLazy) return [schema._zod.innerType];
  const given: readonly unknown[] = Object.values(schema._zod.def);
  const inside = given.flatMap((one) => (typeof one === 'object' && one !== null ? [one, ...Object.values(one)] : []));
  return inside.filter((one) => one instanceof core.$ZodType);
}

const stopAt = ([, check]: ReturnType<typeof core.util.sizeCaps>[number]): void => {
  check._zod.def.abort = true;
};

function stopList(list: core.$ZodArray): void {
  const { parse: whole, def } = list._zod;
  const most = Math.min(...core.util.sizeCaps(def.checks).map(([size]) => size));
  const parse: typeof whole = (payload, context) => {
    const items: unknown = payload.value;
    // zod refuses a value that is not a list or is too long without checking an item.
    // Too long texts are reported at once: the expression below would read megabytes.
    if (!Array.isArray(items) || items.length > most) {
      const refused = whole(payload, context);
      list._zod.parse = parse; // zod has put back its own
      return refused;
    }
    const read: unknown[] = [];
    payload.value = read;
    for (const [i, value] of items.entries()) {
      const result = def.element._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise) throw new core.$ZodAsyncError();
      read.push(result.value);
      if (result.issues.length === 0) continue;
      payload.issues.push(...core.util.prefixIssues(i, result.issues));
      if (payload.issues.length >= MISTAKES_MAX) break;
    }
    return payload;
  };
  if (list._zod.run === whole) list._zod.run = parse;
  list._zod.parse = parse;
}

/** More than local times differ in practice. */
const AHEAD_MAX_MS = 24 * 3_600_000;

interface Timed {
  readonly timestamp?: string | undefined;
  readonly messages: readonly Pick<MessageBody, 'timestamp'>[];
}

/** Refuses messages from more than a day in the future: their unit or year is wrong, not just the time zone. */
export function checkTimes({ timestamp, messages }: Timed, now: number): void {
  refuseAhead('timestamp', timestamp, now);
  for (const [i, message] of messages.entries()) refuseAhead(`messages[${i}].timestamp`, message.timestamp, now);
}

function refuseAhead(path: string, timestamp: string | undefined, now: number): void {
  if (timestamp === undefined || Date.parse(timestamp) - now <= AHEAD_MAX_MS) return;
  const message =
    `expected a time at most 24 hours in the future, got ${timestamp}; it is ${new Date(now).toISOString()}. ` +
    'Send the time when the message was said, with the UTC offset of the speaker, like 2026-03-01T09:30:00+09:00';
  throw problem('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] });
}

/** false: images are refused; else which hosts they may be on, by the same rules as for webhooks. */
export type ImagesTaken = false | { mayName(host: string): boolean };

type Taken = Exclude<ImagesTaken, false>;

/** Refuses images that cannot be described: all without an image model, else those that it cannot or must not load. */
export function checkImages(messages: readonly MessageBody[], taken: ImagesTaken): void {
  for (const [i, { content }] of messages.entries()) {
    if (typeof content === 'string' || !hasImage(content)) continue;
    if (taken === false) throw refusal(`messages[${i}].content`, NO_MODEL);
    for (const [part, { type, ...rest }] of content.entries()) {
      const mistake = type === 'image_url' && 'image_url' in rest ? mistakeIn(rest.image_url.url, taken) : null;
      if (mistake !== null) throw refusal(`messages[${i}].content[${part}].image_url.url`, mistake);
    }
  }
}

const NO_MODEL =
  'expected text, got an image, and no image model is configured; set SLOWWAVE_IMAGE_MODEL, or send a description ' +
  'as text';

const refusal = (path: string, message: string) =>
  problem('unsupported_content', `${path}: ${message}`, { errors: [{ path, message }] });

function mistakeIn(url: string, taken: Taken): string | null {
  return url.startsWith('data:') ? mistakeInData(url) : mistakeInAddress(url, taken);
}

const DATA = /^data:image\/(?:png|jpe?g|gif|webp);base64,(?=[A-Za-z0-9+/])/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/u;

function mistakeInData(url: string): string | null {
  const head = DATA.exec(url)?.[0];
  if (head === undefined) {
    return `expected data:image/png, jpeg, gif or webp in base64, got ${JSON.stringify(url.slice(0, 40))}`;
  }
  return BASE64.test(url.slice(head.length)) ? null : 'expected base64 after the comma, got other characters';
}

/** The model server loads it, so addresses inside its network must not be reachable this way. */
function mistakeInAddress(text: string, taken: Taken): string | null {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return 'expected an http, https or data URL, got something else';
  }
  if (url.username !== '' || url.password !== '') return 'expected a URL without a user name and password';
  const host = url.hostname
    .replace(/^\[(.*)\]$/u, '$1')
    .replace(/\.$/u, '')
    .toLowerCase();
  return taken.mayName(host)
    ? null
    : `expected a public host, got ${host}; send the image as a data URL, or ask the operator to add the host to ` +
        'SLOWWAVE_ALLOW_PRIVATE_URLS';
}

import type { core } from 'zod';
import { MISTAKES_MAX } from './few-mistakes.ts';
import { got } from './got.ts';
import { type InputMistake, shorten } from './problem.ts';

type Issue = core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * What is wrong with an input: one entry per mistake, with its path, what was expected and what was got. One more than an
 * answer tells shows that there are more.
 */
export function mistakes(issues: readonly Issue[], input: unknown): readonly InputMistake[] {
  return issues
    .slice(0, SHOWN)
    .flatMap((issue) => describe(issue, [], input))
    .slice(0, SHOWN);
}

const SHOWN = MISTAKES_MAX + 1;

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

/** What would have been right; null where the schema's own message says it. */
function expectation(issue: Issue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return withArticle(issue.expected);
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${counted(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${counted(issue.minimum, issue.origin)}`;
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

function counted(count: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return String(count);
  return `${count} ${unit}${Number(count) === 1 ? '' : 's'}`;
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

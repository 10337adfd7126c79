import type { Test } from '@slowwave/engine';
import { sameFolded } from '@slowwave/engine/storing';
import { type Bind, type Dialect, SIGNS, type Source } from '../ledger/filter-sql.ts';

/** Metadata is of type jsonb. */
export function postgresDialect(source: Source): Dialect {
  return {
    source,
    contains,
    isText,
    // An arrow with a text goes into objects alone.
    metadata: (keys, test, bind) =>
      holds(`(${[source.metadata, ...keys.map((key) => `${bind(key)}::text`)].join(' -> ')})`, test, bind),
  };
}

type Contains = Extract<Test, { kind: 'contains' }>;

function contains(column: string, { text, folded }: Contains, bind: Bind): string {
  return folded ? `${plain(column)} ~ ${bind(anyCase(text))}` : `strpos(${plain(column)}, ${bind(text)}) > 0`;
}

function isText(column: string, { text, folded }: Contains, bind: Bind): string {
  return folded ? `${plain(column)} ~ ${bind(`^${anyCase(text)}$`)}` : `${column} = ${bind(text)}`;
}

/**
 * A text with what stands for what the server cannot store (see the ledger's text.ts) as one character, so that nothing is
 * found in the code, and so that texts are in the order of their code points.
 */
const plain = (column: string): string =>
  `replace(replace(regexp_replace(${column}, '\\u001ad[89a-f][0-9a-f]{2}', U&'\\D7FF', 'g'), ` +
  `U&'\\001a0000', U&'\\0001'), U&'\\001a001a', U&'\\001a') COLLATE "C"`;

/** The folded text as a regular expression for every way to write it: what the server folds depends on its locale. */
const anyCase = (text: string): string =>
  Array.from(text, (char) => {
    const same = sameFolded(char);
    if (same.length > 1) return `[${same.join('')}]`;
    return /[!-/:-@[-`{-~]/.test(char) ? `\\${char}` : char;
  }).join('');

/** Of a value, or of any element of a list. */
function holds(value: string, test: Test, bind: Bind): string {
  if (test.kind === 'present') return `jsonb_typeof(${value}) <> 'null'`;
  if (test.kind === 'equals')
    return `${value} @> ANY (${bind(test.values.map((one) => JSON.stringify(one)))}::jsonb[])`;
  const elements = `SELECT 1 FROM jsonb_array_elements(${value}) AS e (value) WHERE ${ofElement(test, bind)}`;
  return `CASE jsonb_typeof(${value}) WHEN 'array' THEN EXISTS (${elements}) ELSE ${ofScalar(value, test, bind)} END`;
}

type ElementTest = Exclude<Test, { kind: 'present' | 'equals' }>;

function ofElement(test: ElementTest, bind: Bind): string {
  if (test.kind !== 'contains') return ofScalar('e.value', test, bind);
  return `(jsonb_typeof(e.value) = 'string' AND ${isText(textOf('e.value'), test, bind)})`;
}

function ofScalar(value: string, test: ElementTest, bind: Bind): string {
  if (test.kind === 'contains') return `(${isOf(value, 'string')} AND ${contains(textOf(value), test, bind)})`;
  const { by, to } = test;
  if (typeof to === 'number') return `(${isOf(value, 'number')} AND ${value} ${SIGNS[by]} ${bind(String(to))}::jsonb)`;
  return `(${isOf(value, 'string')} AND ${plain(textOf(value))} ${SIGNS[by]} ${bind(to)})`;
}

const isOf = (value: string, type: 'string' | 'number'): string => `jsonb_typeof(${value}) = '${type}'`;
const textOf = (value: string): string => `(${value} #>> '{}')`;

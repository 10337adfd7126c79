import { packed, unpacked } from '../../packed.ts';
import { type Column, columnsOf } from '../schema.ts';
import type { Value } from '../script.ts';
import type { Kind } from './kinds.ts';

/** A value of a row as a line has it, and back. */
interface Form {
  shown(stored: Value): unknown;
  /** undefined: it is of another form. */
  stored(shown: unknown): Value | undefined;
  /** What is expected, for people. */
  readonly expected: string;
}

const TEXT: Form = {
  shown: (stored) => stored,
  stored: (shown) => (typeof shown === 'string' ? shown : undefined),
  expected: 'a text',
};
const NUMBER: Form = {
  shown: (stored) => stored,
  stored: (shown) => (Number.isSafeInteger(shown) ? (shown as number) : undefined),
  expected: 'a whole number',
};
const FLOAT: Form = {
  ...NUMBER,
  stored: (shown) => (typeof shown === 'number' && Number.isFinite(shown) ? shown : undefined),
  expected: 'a number',
};
const FLAG: Form = {
  shown: (stored) => stored === 1,
  stored: (shown) => (typeof shown === 'boolean' ? Number(shown) : undefined),
  expected: 'true or false',
};
const JSON_TEXT: Form = {
  shown: (stored) => sorted(JSON.parse(String(stored))),
  stored: (shown) => JSON.stringify(shown),
  expected: 'a JSON value',
};
const BYTES: Form = {
  shown: (stored) => Buffer.from(stored as Uint8Array).toString('base64'),
  stored: (shown) => (typeof shown === 'string' ? Buffer.from(shown, 'base64') : undefined),
  expected: 'bytes as base64',
};

const HEX: Form = {
  shown: (stored) => Buffer.from(stored as Uint8Array).toString('hex'),
  stored: (shown) => (typeof shown === 'string' && HEX_DIGITS.test(shown) ? Buffer.from(shown, 'hex') : undefined),
  expected: 'hexadecimal digits',
};
const HEX_DIGITS = /^(?:[0-9a-f]{2})*$/;

const PACKED_TEXT: Form = {
  shown: (stored) => (typeof stored === 'string' ? stored : unpacked(stored as Uint8Array)),
  stored: (shown) => (typeof shown === 'string' ? packed(shown) : undefined),
  expected: TEXT.expected,
};
const PACKED_JSON: Form = {
  shown: (stored) => JSON_TEXT.shown(PACKED_TEXT.shown(stored) as string),
  stored: (shown) => packed(JSON.stringify(shown)),
  expected: JSON_TEXT.expected,
};

const FORMS: Readonly<Record<string, Form>> = {
  ...{ text: TEXT, bigint: NUMBER, int: NUMBER, boolean: FLAG, jsonb: JSON_TEXT, bytea: BYTES, hex: HEX },
  ...{ packed_text: PACKED_TEXT, packed_json: PACKED_JSON, 'double precision': FLOAT },
};

/** One order of keys, whatever the ledger has made of it: PostgreSQL keeps none. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, sorted(inner)]));
}

export interface Carried extends Column {
  readonly form: Form;
}

/** Filled in by the ledger in which a line arrives. */
const FILLED = new Set(['tenant', 'lane', 'key of scopes', 'beyond of memory_ids', 'who of uses', 'who of holds']);

/** The columns of a table that lines have, with their forms. */
export const carriedOf = (
  table: string,
  { own = {}, refers = [] }: Pick<Kind, 'own' | 'refers'> = {},
): readonly Carried[] =>
  columnsOf(table).flatMap((column) => {
    const { name, type, counted } = column;
    const referring = refers.find((one) => one.column === name);
    if (referring !== undefined) return [{ ...column, name: referring.as, type: 'text', form: TEXT }];
    if (counted || FILLED.has(name) || FILLED.has(`${name} of ${table}`) || name in own) return [];
    const form = FORMS[type];
    if (form === undefined) throw new Error(`no line can have the type ${type} of ${table}.${name}`);
    return [{ ...column, form }];
  });

/** Looked up for each line, and found in the text of the schema once. */
const carried = new Map<Kind, readonly Carried[]>();

export function carriedBy(kind: Kind): readonly Carried[] {
  const known = carried.get(kind);
  if (known !== undefined) return known;
  const made = carriedOf(kind.table, kind);
  carried.set(kind, made);
  return made;
}

/** As a line shows a column of a row. */
export const shown = ({ name, form }: Carried, row: Readonly<Record<string, Value>>): unknown => {
  const stored = row[name] ?? null;
  return stored === null ? null : form.shown(stored);
};

import { EngineError } from '@slowwave/engine/storing';
import { type CustomTypesConfig, types } from 'pg';

/**
 * PostgreSQL stores neither U+0000 nor half of a surrogate pair, which users and models do send. They are kept as an
 * escape: U+001A and four hex digits; so is U+001A itself, so that every text comes back as it was and different
 * texts stay different.
 */
const MARK = '\u001a';
const UNSTORABLE = new RegExp(`[\\0${MARK}]|\\p{Surrogate}`, 'gu');
const ESCAPED = new RegExp(`${MARK}([0-9a-f]{4})`, 'g');

/** A text as it is stored. */
export const encodeText = (text: string): string =>
  text.replace(UNSTORABLE, (char) => MARK + char.charCodeAt(0).toString(16).padStart(4, '0'));

/** A text as it was given. */
export const decodeText = (stored: string): string =>
  stored.includes(MARK) ? stored.replace(ESCAPED, (_, code: string) => charOf(code)) : stored;

const charOf = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));

// JSON that JSON.stringify or the server wrote has these characters as \u escapes only. `\\\\` takes escaped
// backslashes first, so that a text which only looks like an escape is left alone.
const UNSTORABLE_IN_JSON = /\\\\|\\u(0000|001a|d[89a-f][0-9a-f]{2})/g;
const ESCAPED_IN_JSON = /\\\\|\\u001a([0-9a-f]{4})/g;

/** JSON, as JSON.stringify writes it, as it is stored. */
export const encodeJson = (json: string): string =>
  json.replace(UNSTORABLE_IN_JSON, (found, code?: string) => (code === undefined ? found : `\\u001a${code}`));

/** JSON as it was given. */
export const decodeJson = (stored: string): string =>
  stored.includes('\\u001a')
    ? stored.replace(ESCAPED_IN_JSON, (found, code?: string) => (code === undefined ? found : `\\u${code}`))
    : stored;

/** What the server calls the types of our columns. */
const { BOOL, INT8, JSONB, TEXT } = types.builtins;

/** Values become what the rows of all SQL ledgers hold: numbers, texts, flags of 0 and 1, JSON as text. */
export const COLUMN_TYPES: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (oid === INT8) return safeInteger;
    if (oid === BOOL) return (value: string) => (value === 't' ? 1 : 0);
    if (oid === TEXT) return decodeText;
    if (oid === JSONB) return decodeJson;
    return types.getTypeParser(oid, format);
  },
};

function safeInteger(value: string): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new EngineError(`expected a number that is exact in JavaScript in the ledger, got ${value}`, {
    code: 'internal',
    retryable: false,
  });
}

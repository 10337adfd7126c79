import { EngineError } from '@slowwave/engine';
import { type CustomTypesConfig, types } from 'pg';
import { decodeJson, decodeText } from './text.ts';

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

import { type PoolClient, types } from 'pg';
import { type Answer, type Ask, askAll, encodeJson, encodeText } from './asking.ts';
import { ofConnection } from './errors.ts';

type Scalar = string | number | boolean | null | Uint8Array;
export type Params = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/**
 * One connection. Statements name their parameters, `@name`; one that holds JSON says so, `@name::jsonb`.
 * Each statement is prepared once per connection.
 */
export interface Sql {
  get<Row>(text: string, params?: Params): Promise<Row | null>;
  all<Row>(text: string, params?: Params): Promise<readonly Row[]>;
  /** How many rows changed. */
  run(text: string, params?: Params): Promise<number>;
  /** The answers to several statements that are sent in one piece, one by one. Where none is open they are one transaction. */
  ask(asks: readonly Ask[]): Promise<readonly Answer[]>;
  /** Sent with what is asked next, or with the end of the transaction. */
  askLater(asks: readonly Ask[]): void;
  /** The same as `ask`, with the end of the transaction. */
  askLast(asks: readonly Ask[]): Promise<readonly Answer[]>;
  /** Whether the end of the transaction was sent. */
  isEnding(): boolean;
}

/** What a transaction begins and ends with; the first goes along with its first statements. */
export interface Frame {
  readonly opening: readonly Ask[];
  readonly closing: readonly Ask[];
}

const UNFRAMED: Frame = { opening: [], closing: [] };

export function sqlOf(client: PoolClient, { opening, closing }: Frame = UNFRAMED): Sql {
  let ahead = opening;
  let isEnding = false;
  const send = async (asks: readonly Ask[], behind: readonly Ask[] = []): Promise<readonly Answer[]> => {
    const first = ahead;
    ahead = [];
    try {
      return (await askAll(client, [...first, ...asks, ...behind])).slice(first.length, first.length + asks.length);
    } catch (error) {
      throw ofConnection(error);
    }
  };
  const one = async (text: string, params?: Params): Promise<Answer> =>
    (await send([askOf(text, params)]))[0] ?? NO_ANSWER;
  return {
    get: async <Row>(text: string, params?: Params) => ((await one(text, params)).rows[0] as Row | undefined) ?? null,
    all: async <Row>(text: string, params?: Params) => (await one(text, params)).rows as readonly Row[],
    run: async (text, params) => (await one(text, params)).count,
    ask: (asks) => send(asks),
    askLater: (asks) => {
      if (closing.length === 0)
        throw new Error('only a transaction can defer a statement: it is sent when the transaction ends');
      ahead = [...ahead, ...asks];
    },
    askLast: (asks) => {
      const behind = isEnding ? [] : closing;
      isEnding = true;
      return send(asks, behind);
    },
    isEnding: () => isEnding,
  };
}

const NO_ANSWER: Answer = { rows: [], count: 0 };

/** A statement that every connection keeps once it was asked. Its parts have parameters of their own (`nameInPart`). */
export function askOf(text: string, params: Params = {}, parts: readonly Params[] = []): Ask {
  const { name, sql, slots } = statementOf(text);
  const values = slots.map((slot) => encoded(slot, slot.part === null ? params : (parts[slot.part] ?? {})));
  return { name, text: sql, values };
}

export const nameInPart = (part: number, name: string): string => `w${part}_${name}`;
const IN_PART = /^w(\d+)_(.+)$/;

/** One that is as a caller's filter is: it is not kept. */
export function askOnce(text: string, params: Params): Ask {
  const { sql, slots } = parse(text);
  return { name: '', text: sql, values: slots.map((slot) => encoded(slot, params)) };
}

/** A parameter of a statement. */
interface Slot {
  readonly name: string;
  /** The number of the part of the statement that it belongs to; null: it belongs to the whole. */
  readonly part: number | null;
  readonly json: boolean;
}

interface Parsed {
  readonly sql: string;
  readonly slots: readonly Slot[];
}

interface Statement extends Parsed {
  readonly name: string;
}

/** By text: a handful per kind of row. */
const statements = new Map<string, Statement>();

function statementOf(text: string): Statement {
  const known = statements.get(text);
  if (known !== undefined) return known;
  const statement = { name: `slowwave_${statements.size}`, ...parse(text) };
  statements.set(text, statement);
  return statement;
}

function parse(text: string): Parsed {
  const slots: Slot[] = [];
  const written: string[] = [];
  const sql = text.replace(/@([a-z]\w*(?:::jsonb)?)/gi, (_, one: string) => {
    const known = written.indexOf(one);
    const place = known === -1 ? written.push(one) : known + 1;
    const [named = '', cast] = one.split('::');
    if (known === -1) slots.push({ ...slotOf(named), json: cast !== undefined });
    return `$${place}${cast === undefined ? '' : `::${cast}`}`;
  });
  return { sql, slots };
}

function slotOf(named: string): Pick<Slot, 'name' | 'part'> {
  const [, part, name] = IN_PART.exec(named) ?? [];
  return part === undefined || name === undefined ? { name: named, part: null } : { name, part: Number(part) };
}

function encoded({ name, json }: Slot, params: Params): string | Buffer | null {
  const value = params[name];
  if (value === undefined) throw new Error(`the statement needs a parameter named ${name}, but got none`);
  const encode = json ? encodeJson : encodeText;
  if (!Array.isArray(value)) return scalarOf(value as Scalar, encode);
  if (value.length > 0 && value.every((one) => one instanceof Uint8Array)) return arrayOfBytes(value);
  return `{${value.map((one: Scalar) => elementOf(one, encode)).join()}}`;
}

type Encode = (text: string) => string;

function scalarOf(value: Scalar, encode: Encode): string | Buffer | null {
  if (typeof value === 'string') return encode(value);
  if (value === null) return null;
  return value instanceof Uint8Array ? bytesOf(value) : String(value);
}

/** A value in the text of an array. */
function elementOf(value: Scalar, encode: Encode): string {
  if (value === null) return 'NULL';
  if (value instanceof Uint8Array) return `"\\\\x${bytesOf(value).toString('hex')}"`;
  return typeof value === 'string' ? `"${encode(value).replace(/["\\]/g, '\\$&')}"` : String(value);
}

/** Of bytea; as text it would be more than twice as long, and is read several times as slowly. */
function arrayOfBytes(values: readonly Uint8Array[]): Buffer {
  const head = [1, 0, types.builtins.BYTEA, values.length, 1]; // one dimension without nulls, its elements, their number, the first index
  const numbers = (some: readonly number[]): Buffer => {
    const bytes = Buffer.allocUnsafe(INT_BYTES * some.length);
    for (const [i, one] of some.entries()) bytes.writeInt32BE(one, i * INT_BYTES);
    return bytes;
  };
  return Buffer.concat([numbers(head), ...values.flatMap((value) => [numbers([value.length]), value])]);
}

const INT_BYTES = 4;

const bytesOf = (value: Uint8Array): Buffer => Buffer.from(value.buffer, value.byteOffset, value.byteLength);

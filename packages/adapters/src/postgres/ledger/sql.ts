import type { Connection, PoolClient } from 'pg';
import { ofConnection } from './errors.ts';
import { encodeJson, encodeText } from './text.ts';

type Scalar = string | number | boolean | null | Buffer;
export type Params = Readonly<Record<string, Scalar | readonly Scalar[]>>;

/**
 * One connection. Statements name their parameters, `@name`; one that holds JSON says so, `@name::jsonb`.
 * Each statement is prepared once per connection.
 */
export interface Sql {
  get<Row>(text: string, params?: Params): Promise<Row | null>;
  all<Row>(text: string, params?: Params): Promise<Row[]>;
  /** Like `all`, of a statement that is as a caller's filter is: it is not kept. */
  once<Row>(text: string, params?: Params): Promise<Row[]>;
  /** How many rows changed. */
  run(text: string, params?: Params): Promise<number>;
  /** What is asked right away goes to the server in one piece: a call of the system instead of one for each statement. */
  inOnePiece<T>(ask: () => Promise<T>): Promise<T>;
}

export function sqlOf(client: PoolClient): Sql {
  const ask = async ({ sql, slots }: Parsed, params: Params, name: { readonly name?: string }) => {
    try {
      return await client.query({ ...name, text: sql, values: slots.map((slot) => encoded(slot, params)) });
    } catch (error) {
      throw ofConnection(error);
    }
  };
  const query = (text: string, params: Params = {}) => {
    const { name, ...parsed } = statementOf(text);
    return ask(parsed, params, { name });
  };
  return {
    get: async <Row>(text: string, params?: Params) => ((await query(text, params)).rows[0] as Row | undefined) ?? null,
    all: async <Row>(text: string, params?: Params) => (await query(text, params)).rows as Row[],
    once: async <Row>(text: string, params: Params = {}) => (await ask(parse(text), params, {})).rows as Row[],
    run: async (text, params) => (await query(text, params)).rowCount ?? 0,
    inOnePiece: (ask) => inOnePiece(client, ask),
  };
}

export function inOnePiece<T>(client: PoolClient, ask: () => Promise<T>): Promise<T> {
  const { stream } = (client as PoolClient & { readonly connection: Connection }).connection;
  stream.cork();
  try {
    return ask();
  } finally {
    stream.uncork();
  }
}

/** A parameter of a statement. */
interface Slot {
  readonly name: string;
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
  const sql = text.replace(/@([a-z]\w*)(::jsonb)?/gi, (_, name: string, cast: string | undefined) => {
    const json = cast !== undefined;
    const known = slots.findIndex((slot) => slot.name === name && slot.json === json);
    const place = known === -1 ? slots.push({ name, json }) : known + 1;
    return `$${place}${cast ?? ''}`;
  });
  return { sql, slots };
}

function encoded({ name, json }: Slot, params: Params): unknown {
  const value = params[name];
  if (value === undefined) throw new Error(`the statement needs a parameter named ${name}, and got none`);
  const encode = json ? encodeJson : encodeText;
  if (typeof value === 'string') return encode(value);
  return Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? encode(one) : one)) : value;
}

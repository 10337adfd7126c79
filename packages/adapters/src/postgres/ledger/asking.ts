import type { Socket } from 'node:net';
import { EngineError } from '@slowwave/engine/storing';
import { type CustomTypesConfig, type PoolClient, Query, type Submittable, types } from 'pg';

/** A statement with its values, as the protocol takes them. */
export interface Ask {
  /** By which a connection knows it once it has prepared it; empty: it is not kept. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | Buffer | null)[];
}

export interface Answer {
  readonly rows: readonly object[];
  /** How many rows it returned or changed. */
  readonly count: number;
}

/**
 * Sends statements in one piece and waits for all answers. The server carries them out one after the other, as one transaction where
 * none is open, and after one that fails none of the others. Unlike the client library's own queries, they share a barrier (Sync) and
 * a call of the system, and what the rows of a statement look like is asked once per connection.
 */
export function askAll(client: PoolClient, asks: readonly Ask[]): Promise<readonly Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
  const asking = new Asking(asks, (error, answers) => (error === null ? resolve(answers) : reject(error)));
  client.query(asking as unknown as Submittable);
  return promise;
}

type Answered = (error: Error | null, answers: readonly Answer[]) => void;

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** What the rows of a statement look like. */
interface Shape {
  /** Every column as null. */
  readonly empty: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
}

/** A connection of the client library, with the texts of statements by their names: those that are prepared, and those on their way. */
interface Preparing {
  stream: Pick<Socket, 'writable' | 'write'>;
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: Pick<Ask, 'name' | 'text'>): void;
  bind(values: { readonly statement: string; readonly values: Ask['values'] }): void;
  describe(what: { readonly type: 'P' }): void;
  execute(): void;
  sync(): void;
}

/** By the names of statements. A prepared statement never changes what its rows look like: the server refuses to run it instead. */
const shapesOf = new WeakMap<Preparing, Map<string, Shape>>();
const NO_ROWS: Shape = { empty: {}, names: [], parsers: [] };

/** What the client library calls to send a query and to hand it what comes back. */
class Asking {
  /** The library puts one of its own in its place, which stops its clock. */
  callback: Answered;
  private readonly asks: readonly Ask[];
  private readonly answers: Answer[] = [];
  /** Of each statement; null: it is about to be described. */
  private shapes: (Shape | null)[] = [];
  private known = new Map<string, Shape>();
  private found: object[] = [];
  private failed: Error | null = null;

  constructor(asks: readonly Ask[], callback: Answered) {
    this.asks = asks;
    this.callback = callback;
  }

  /** Of the statement that is being answered: the library notes by it what is prepared. */
  get name(): string | undefined {
    return this.current?.name;
  }

  get text(): string | undefined {
    return this.current?.text;
  }

  private get current(): Ask | undefined {
    return this.asks[this.answers.length];
  }

  submit(connection: Preparing): null {
    this.known = shapesOf.get(connection) ?? new Map<string, Shape>();
    shapesOf.set(connection, this.known);
    inOnePiece(connection, () => {
      this.shapes = this.asks.map((ask) => this.send(connection, ask));
      connection.sync();
    });
    return null;
  }

  private send(connection: Preparing, { name, text, values }: Ask): Shape | null {
    if (!(name in connection.parsedStatements || name in connection.submittedNamedStatements)) {
      connection.parse({ name, text });
      if (name !== '') connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values });
    const shape = this.known.get(name) ?? null;
    if (shape === null) connection.describe({ type: 'P' });
    connection.execute();
    return shape;
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const parsers = fields.map(({ dataTypeID }) => COLUMN_TYPES.getTypeParser(dataTypeID, 'text'));
    const names = fields.map(({ name }) => name);
    this.noteShape({ empty: Object.fromEntries(names.map((name) => [name, null])), names, parsers });
  }

  private noteShape(shape: Shape): void {
    this.shapes[this.answers.length] = shape;
    const name = this.name ?? '';
    if (name !== '') this.known.set(name, shape);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const shape = this.shapes[this.answers.length] ?? NO_ROWS;
    try {
      this.found.push(rowOf(shape, fields));
    } catch (error) {
      this.failed ??= error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    if (this.shapes[this.answers.length] === null) this.noteShape(NO_ROWS);
    this.answers.push({ rows: this.found, count: countIn(text) });
    this.found = [];
  }

  handleEmptyQuery(): void {
    this.answers.push({ rows: [], count: 0 });
  }

  handleReadyForQuery(): void {
    this.callback(this.failed, this.answers);
  }

  /** The server has skipped the statements behind the one that failed: what was to be prepared for them is not. */
  handleError(error: Error, { submittedNamedStatements: sent }: Preparing): void {
    for (const { name } of this.asks.slice(this.answers.length)) delete sent[name];
    this.callback(this.failed ?? error, []);
  }
}

/** The library writes each message by itself: dozens of small buffers, which together take longer to hand over than to copy. */
function inOnePiece(connection: Preparing, send: () => void): void {
  const { stream } = connection;
  const messages: Uint8Array[] = [];
  const write = (message: Uint8Array): boolean => messages.push(message) > 0;
  connection.stream = { writable: stream.writable, write: write as Socket['write'] };
  try {
    send();
  } finally {
    connection.stream = stream;
  }
  if (messages.length > 0) stream.write(Buffer.concat(messages));
}

// The library pipelines only what it takes for a query of its own.
Object.setPrototypeOf(Asking.prototype, Query.prototype);

function rowOf({ empty, names, parsers }: Shape, fields: readonly (string | null)[]): object {
  const row = { ...empty };
  for (let i = 0; i < names.length; i += 1) {
    const [name, value = null] = [names[i] ?? '', fields[i]];
    if (value !== null) row[name] = parsers[i]?.(value);
  }
  return row;
}

/** "INSERT 0 5", "UPDATE 3", "SELECT 1", "BEGIN". */
function countIn(tag: string): number {
  const count = Number(tag.slice(tag.lastIndexOf(' ') + 1));
  return Number.isNaN(count) ? 0 : count;
}

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

import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { Thread } from '../system/thread.ts';
import { currentCaller } from './calls.ts';
import type { Line } from './connection.ts';
import type { PgliteAnswer, PgliteNotice } from './pglite-thread.ts';

type Params = readonly unknown[] | undefined;

/**
 * The PGlite of a thread, shaped like the node-postgres pool that the queue library works with.
 * There is one session behind it. A client has it to itself from BEGIN to COMMIT, ROLLBACK or release; everything
 * else takes it for one query. It is not held from connect to release, because the library keeps a connected
 * client for as long as it listens to notifications.
 */
export function openPools(thread: Thread): Readonly<Record<Line, PgPool>> {
  const session = new Session(thread);
  const clients = new Set<PgliteClient>();
  thread.onNotice((notice) => {
    const { channel, payload } = notice as PgliteNotice;
    for (const client of clients) client.emit('notification', { channel, payload });
  });
  const open = (line: Line): PgPool => {
    const pool = new PglitePool({ session, line, clients });
    pool.setMaxListeners(0); // every queue and worker listens to it, of which a process may have many
    return pool;
  };
  return { work: open('work'), other: open('other') };
}

interface Waiting {
  readonly caller: ReturnType<typeof currentCaller>;
  begin(): void;
  giveUp(): void;
}

/** So many of work in a row, then one of the others: they would wait for ever while workers are busy. */
const WORK_IN_A_ROW = 8;

/** The one session of the database: used by one at a time; within a line in order of arrival. */
class Session {
  readonly #thread: Thread;
  readonly #lines: Readonly<Record<Line, Waiting[]>> = { work: [], other: [] };
  #inARow = 0;
  #busy = false;
  #ended = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Waits for the session. It is held until the returned function is called. */
  async take(line: Line): Promise<() => void> {
    if (this.#busy) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = (): void =>
        reject(Object.assign(new Error('nobody waits for it any more'), { code: 'ETIMEDOUT' }));
      this.#lines[line].push({ caller: currentCaller(), begin: resolve, giveUp });
      await promise;
    }
    this.#busy = true;
    return () => this.#pass();
  }

  /** To the next one that still wants it: what nobody waits for any more would only make the others wait. */
  #pass(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (!next.caller.gaveUp) {
        next.begin();
        return;
      }
      next.giveUp();
    }
    this.#busy = false;
  }

  #next(): Waiting | undefined {
    const { work, other } = this.#lines;
    const others = work.length === 0 || (other.length > 0 && this.#inARow >= WORK_IN_A_ROW);
    this.#inARow = others ? 0 : this.#inARow + 1;
    return others ? other.shift() : work.shift();
  }

  end(): void {
    this.#ended = true;
  }

  /** Only for whoever holds the session. */
  async run<R>(text: string, params: Params): Promise<PgQueryResult<R>> {
    if (this.#ended) throw new Error('Cannot use a pool after calling end on the pool');
    const answer = await this.#thread.call<PgliteAnswer>('query', text, params ?? []).catch((error: unknown) => {
      // The code tells the library to wait before it tries again, instead of trying as fast as it can.
      throw Object.assign(new Error('the PGlite thread does not run', { cause: error }), { code: 'ECONNREFUSED' });
    });
    if (answer.ok) return { rows: answer.rows as R[], rowCount: answer.rowCount };
    throw Object.assign(new Error(), answer.error);
  }
}

interface Place {
  readonly session: Session;
  readonly line: Line;
}

class PglitePool extends EventEmitter implements PgPool {
  readonly #place: Place;
  readonly #clients: Set<PgliteClient>;

  constructor({ clients, ...place }: Place & { clients: Set<PgliteClient> }) {
    super();
    this.#place = place;
    this.#clients = clients;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const { session, line } = this.#place;
    const leave = await session.take(line);
    try {
      return await session.run(text, params);
    } finally {
      leave();
    }
  }

  async connect(): Promise<PgPoolClient> {
    const client: PgliteClient = new PgliteClient(this.#place, () => this.#clients.delete(client));
    this.#clients.add(client);
    return client;
  }

  async end(): Promise<void> {
    this.#place.session.end();
  }
}

class PgliteClient extends EventEmitter implements PgPoolClient {
  readonly #place: Place;
  readonly #forget: () => void;
  /** Gives the session back; null outside of a transaction. */
  #leave: (() => void) | null = null;

  constructor(place: Place, forget: () => void) {
    super();
    this.#place = place;
    this.#forget = forget;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const { session, line } = this.#place;
    const leave = this.#leave ?? (await session.take(line));
    const command = commandOf(text);
    if (command === 'BEGIN') this.#leave = leave;
    try {
      return await session.run(text, params);
    } finally {
      if (command === 'COMMIT' || command === 'ROLLBACK') this.#leave = null;
      if (this.#leave === null) leave();
    }
  }

  release(): void {
    this.#forget();
    const leave = this.#leave;
    if (leave === null) return;
    this.#leave = null;
    // A pool would close the connection of an unfinished transaction; there is only one here.
    void this.#place.session.run('ROLLBACK', []).then(leave, leave);
  }
}

/** The first word of a statement, after comments. */
function commandOf(text: string): string {
  return /^(?:\s|--[^\n]*\n)*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? '';
}

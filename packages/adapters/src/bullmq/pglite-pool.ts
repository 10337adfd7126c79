import { EventEmitter } from 'node:events';
import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import type { Thread } from '../system/thread.ts';
import type { PgliteAnswer, PgliteNotice } from './pglite-thread.ts';

type Params = readonly unknown[] | undefined;

/**
 * The PGlite of a thread, shaped like the node-postgres pool that the queue library works with.
 * There is one session behind it. A client has it to itself from BEGIN to COMMIT, ROLLBACK or release; everything
 * else takes it for one query. It is not held from connect to release, because the library keeps a connected
 * client for as long as it listens to notifications.
 */
export function openPool(thread: Thread): PgPool {
  const session = new Session(thread);
  const clients = new Set<PgliteClient>();
  thread.onNotice((notice) => {
    const { channel, payload } = notice as PgliteNotice;
    for (const client of clients) client.emit('notification', { channel, payload });
  });
  const pool = new PglitePool(session, clients);
  pool.setMaxListeners(0); // every queue and worker listens to it, of which a process may have many
  return pool;
}

/** The one session of the database: used by one at a time, in order of arrival. */
class Session {
  readonly #thread: Thread;
  #last: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Waits for the session. It is held until the returned function is called. */
  async take(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
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

class PglitePool extends EventEmitter implements PgPool {
  readonly #session: Session;
  readonly #clients: Set<PgliteClient>;

  constructor(session: Session, clients: Set<PgliteClient>) {
    super();
    this.#session = session;
    this.#clients = clients;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const leave = await this.#session.take();
    try {
      return await this.#session.run(text, params);
    } finally {
      leave();
    }
  }

  async connect(): Promise<PgPoolClient> {
    const client: PgliteClient = new PgliteClient(this.#session, () => this.#clients.delete(client));
    this.#clients.add(client);
    return client;
  }

  async end(): Promise<void> {
    this.#session.end();
  }
}

class PgliteClient extends EventEmitter implements PgPoolClient {
  readonly #session: Session;
  readonly #forget: () => void;
  /** Gives the session back; null outside of a transaction. */
  #leave: (() => void) | null = null;

  constructor(session: Session, forget: () => void) {
    super();
    this.#session = session;
    this.#forget = forget;
  }

  async query<R>(text: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    const leave = this.#leave ?? (await this.#session.take());
    const command = commandOf(text);
    if (command === 'BEGIN') this.#leave = leave;
    try {
      return await this.#session.run(text, params);
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
    void this.#session.run('ROLLBACK', []).then(leave, leave);
  }
}

/** The first word of a statement, after comments. */
function commandOf(text: string): string {
  return /^(?:\s|--[^\n]*\n)*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? '';
}

import { EngineError } from '@slowwave/engine';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { ThreadCall } from '../../system/thread-host.ts';
import { type Sql, sqlOf } from './sql.ts';
import { GROUP_CALLS_MAX, groupCommit, type Handler } from './writer.ts';

const HANDLERS: Readonly<Record<string, Handler>> = {
  add: (sql, input) => sql.run('INSERT INTO notes (text) VALUES (@text)', { text: String(input) }),
  addThenThrow: (sql, input) => {
    sql.run('INSERT INTO notes (text) VALUES (@text)', { text: String(input) });
    throw new Error('a mistake in the code');
  },
  // Checked at the commit only.
  addOrphan: (sql) => sql.run('INSERT INTO orphans (note) VALUES (-1)'),
};

describe('a group of calls', () => {
  it('is committed once and answered one by one', async () => {
    const { run, notes, committed } = open({ groupMs: 60_000 }); // a busy machine takes long over each
    const answers = await Promise.all([run('add', 'a'), run('add', 'b'), run('add', 'c')]);
    expect(answers).toEqual([1, 1, 1]);
    expect(notes()).toEqual(['a', 'b', 'c']);
    expect(committed()).toEqual({ commits: 1, calls: 3 });
  });

  it('keeps no row of a member that throws, and all of the others', async () => {
    const { run, notes } = open();
    const settled = await Promise.allSettled([run('add', 'a'), run('addThenThrow', 'b'), run('add', 'c')]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(notes()).toEqual(['a', 'c']);
  });

  it('fails as a whole, worth another try, when it cannot be committed', async () => {
    const { run, notes } = open({ groupMs: 60_000 }); // all in one group, however busy the machine is
    const settled = await Promise.allSettled([run('add', 'a'), run('addOrphan', null), run('add', 'c')]);
    for (const one of settled) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable', retryable: true } });
    }
    expect(notes()).toEqual([]);
    await run('add', 'later');
    expect(notes()).toEqual(['later']);
  });

  it('that cannot be committed fails nobody who waits for the next one', async () => {
    const { run, notes, committed } = open({ groupMs: 60_000 }); // full before its time is over, however busy the machine is
    const others = Array.from({ length: GROUP_CALLS_MAX - 1 }, () => run('add', 'a'));
    const first = [run('addOrphan', null), ...others];
    const next = run('add', 'b');
    for (const one of await Promise.allSettled(first)) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable' } });
    }
    expect(await next).toBe(1);
    expect(notes()).toEqual(['b']);
    expect(committed()).toEqual({ commits: 1, calls: 1 });
  });

  it('is cut into several when many wait', async () => {
    const { run, notes, committed } = open();
    await Promise.all(Array.from({ length: 600 }, (_, i) => run('add', i)));
    expect(notes().length).toBe(600);
    expect(committed().commits).toBeGreaterThanOrEqual(3);
  });

  it('tells of a full disk as an outage and goes on when there is room again', async () => {
    const { run, notes, sql } = open();
    sql.db.pragma('max_page_count = 10');
    const settled = await Promise.allSettled(Array.from({ length: 20 }, () => run('add', 'x'.repeat(8_000))));
    const failures = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failures.length).toBeGreaterThan(0);
    for (const failure of failures) expect(failure).toMatchObject({ code: 'ledger_unavailable', retryable: true });
    expect(notes().length).toBe(20 - failures.length);
    sql.db.pragma('max_page_count = 1000');
    await run('add', 'later');
    expect(notes().at(-1)).toBe('later');
  });

  it('has nothing to do with a write nobody knows', async () => {
    const { run, notes } = open();
    const settled = await Promise.allSettled([run('forget', 'a'), run('add', 'b')]);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(notes()).toEqual(['b']);
  });

  it('is answered before the database closes', async () => {
    const { run, close } = open();
    const answer = run('add', 'a');
    await close();
    expect(await answer).toBe(1);
    await expect(run('add', 'b')).rejects.toBeInstanceOf(EngineError);
  });
});

interface Opened {
  readonly sql: Sql;
  run(method: string, input: unknown): Promise<unknown>;
  notes(): unknown[];
  committed(): { commits: number; calls: number };
  close(): void | Promise<void>;
}

function open(options: { readonly groupMs?: number } = {}): Opened {
  const sql = sqlOf(new Database(':memory:'));
  sql.db.pragma('foreign_keys = ON');
  sql.db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
  sql.db.exec('CREATE TABLE orphans (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED) STRICT');
  const writer = groupCommit(sql, (method) => HANDLERS[method], options);
  return {
    sql,
    run: (method, input) =>
      new Promise((answer, fail) => {
        const call: ThreadCall = { method, args: [input], answer, fail };
        writer.receive(call);
      }),
    notes: () => sql.db.prepare('SELECT text FROM notes ORDER BY id').pluck().all(),
    committed: writer.committed,
    close: writer.close,
  };
}

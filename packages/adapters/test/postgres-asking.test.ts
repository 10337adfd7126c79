import { recordingLog } from '@slowwave/engine-testing';
import type { PoolClient } from 'pg';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { first, type Script } from '../src/ledger/script.ts';
import { openPool } from '../src/postgres/index.ts';
import { accessOf } from '../src/postgres/ledger/access.ts';
import { askAll, COLUMN_TYPES } from '../src/postgres/ledger/asking.ts';
import { askOf, askOnce, sqlOf } from '../src/postgres/ledger/sql.ts';
import { ledgerServer } from './postgres-ledger-fixture.ts';

const shared = await ledgerServer();
const url = await shared.newDatabase();
const pool = openPool({ url, schema: 'public', max: 1, log: recordingLog(), types: COLUMN_TYPES });
afterAll(async () => {
  await pool.end();
  await shared.stop();
});

beforeEach(async () => {
  await shared.sql('DROP TABLE IF EXISTS notes', url);
  await shared.sql('CREATE TABLE notes (id bigint PRIMARY KEY, text text, tags text[], bytes bytea, given jsonb)', url);
});

/** Of the pool's only connection. */
async function onClient<T>(use: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await use(client);
  } finally {
    client.release();
  }
}

const note = (id: number) => askOf('INSERT INTO notes (id, text) VALUES (@id, @text)', { id, text: `note ${id}` });
const IDS = askOf('SELECT id FROM notes ORDER BY id');
const stored = async (): Promise<number[]> => (await shared.sql('SELECT id FROM notes ORDER BY id', url)).map(numberOf);
const numberOf = ({ id }: Record<string, unknown>): number => Number(id);

describe('statements sent in one piece', () => {
  it('are answered one by one, the same way when they are asked again', async () => {
    const found = { rows: [{ id: 1 }, { id: 2 }], count: 2 };
    await onClient(async (client) => {
      const [first, second, ids] = await askAll(client, [note(1), note(2), IDS]);
      expect([first, second, ids]).toEqual([{ rows: [], count: 1 }, { rows: [], count: 1 }, found]);
      expect(await askAll(client, [IDS, IDS])).toEqual([found, found]);
      const changed = askOf('UPDATE notes SET text = NULL WHERE id > @id', { id: 0 });
      expect(await askAll(client, [changed, IDS])).toEqual([{ rows: [], count: 2 }, found]);
    });
  });

  it('change nothing where one of them fails, and all of them can be asked again', async () => {
    await onClient(async (client) => {
      const late = askOf('DELETE FROM notes WHERE id = @late', { late: 7 }); // not prepared before it is skipped
      await expect(askAll(client, [note(1), note(1), late])).rejects.toThrow(/duplicate key/);
      expect(await stored()).toEqual([]);
      expect(await askAll(client, [note(1), late, IDS])).toMatchObject([{ count: 1 }, { count: 0 }, { count: 1 }]);
    });
    expect(await stored()).toEqual([1]);
  });

  it('fail alone where others were sent behind them', async () => {
    await onClient(async (client) => {
      const wrong = askAll(client, [note(1), askOnce('SELECT * FROM nowhere', {})]);
      const [failed, right] = await Promise.allSettled([wrong, askAll(client, [IDS, note(2)])]);
      expect(failed).toMatchObject({ status: 'rejected', reason: { code: '42P01' } });
      expect(right).toMatchObject({ status: 'fulfilled', value: [{ rows: [] }, { count: 1 }] });
    });
    expect(await stored()).toEqual([2]);
  });

  it('give back whatever was given', async () => {
    const text = 'a "quoted", {braced} \\ back\\\\slashed\n\u0000 NULL, ü 漢 😀 \ud800';
    const bytes = new Uint8Array([0, 1, 92, 120, 255]);
    const given = { text, tags: [text, '', 'NULL', 'null'], bytes, json: JSON.stringify({ text }) };
    const texts = 'INSERT INTO notes (id, text, tags, bytes, given)';
    await onClient(async (client) => {
      const sql = sqlOf(client);
      await sql.run(`${texts} VALUES (1, @text, @tags, @bytes, @json::jsonb)`, given);
      const lists = { ids: [2], texts: [text], all: [bytes], jsons: [given.json] };
      await sql.run(
        `${texts} SELECT id, text, @texts::text[], bytes, given
         FROM unnest(@ids::bigint[], @texts::text[], @all::bytea[], @jsons::jsonb[]) AS n (id, text, bytes, given)`,
        lists,
      );
      const rows = await sql.all<{ text: string; bytes: Buffer; given: string; tag: string; none: null }>(
        'SELECT text, bytes, given, tags[1] AS tag, tags[9] AS none FROM notes ORDER BY id',
      );
      expect(rows).toHaveLength(2);
      for (const row of rows) {
        expect({ ...row, bytes: [...row.bytes], given: JSON.parse(row.given) }).toEqual({
          ...{ text, tag: text, none: null, bytes: [...bytes], given: { text } },
        });
      }
      const [last] = await sql.all<{ tags: string[] }>('SELECT tags[2:4]::text AS tags FROM notes WHERE id = 1');
      expect(last?.tags).toBe('{"","NULL","null"}');
    });
  });

  it('of which one answers with a number that is not exact fail, and the connection goes on', async () => {
    await onClient(async (client) => {
      const large = askOnce('SELECT 9007199254740993::bigint AS large', {});
      await expect(askAll(client, [large, IDS])).rejects.toThrow(/exact in JavaScript/);
      expect(await askAll(client, [IDS])).toEqual([{ rows: [], count: 0 }]);
    });
  });
});

describe('reads of few rows', () => {
  const access = accessOf(pool, 'postgres://here');
  const reading = (name: string, script: () => Script<unknown>) =>
    access.read({ ...{ kind: 'read', name, atOnce: false, reach: 'few', script } } as const, undefined);
  /** When the transaction began that it is read in. */
  const began = (): Promise<unknown> => reading('began', () => first('SELECT now()::text AS began'));
  const failing = (): Promise<unknown> => reading('failing', () => first('SELECT 1 / count(*) AS one FROM notes'));

  it('that are asked at once share a transaction', async () => {
    const [one, other] = await Promise.all([began(), began()]);
    expect(one).toEqual(other);
    expect(await began()).not.toEqual(one);
  });

  it('fail alone', async () => {
    const asked = await Promise.allSettled([began(), failing(), began()]);
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await shared.sql('INSERT INTO notes (id) VALUES (1)', url);
    expect(await Promise.all([failing(), began()])).toEqual([{ one: 1 }, { began: expect.any(String) }]);
  });
});

describe('a transaction', () => {
  const { own } = accessOf(pool, 'postgres://here');
  const named = (id: number) => ({ id, text: 'one' });
  const INSERT = 'INSERT INTO notes (id, text) VALUES (@id, @text)';

  it('writes nothing where its first statement fails, nor where its last one does', async () => {
    await own.write((sql) => sql.run(INSERT, named(1)));
    await expect(own.write((sql) => sql.run(INSERT, named(1)))).rejects.toThrow(/duplicate key/);
    const second = own.write(async (sql) => {
      await sql.run(INSERT, named(2));
      await sql.ask([note(3), note(1)]);
    });
    await expect(second).rejects.toThrow(/duplicate key/);
    await own.write((sql) => sql.run(INSERT, named(4)));
    expect(await stored()).toEqual([1, 4]);
  });

  it('writes nothing where the work in it fails, asked for anything or not', async () => {
    const failing = own.write(async (sql) => {
      await sql.run(INSERT, named(1));
      throw new Error('thought better of it');
    });
    await expect(failing).rejects.toThrow('thought better of it');
    await expect(own.write(() => Promise.reject(new Error('never began')))).rejects.toThrow('never began');
    expect(await stored()).toEqual([]);
  });

  it('ends together with what it asks last, and writes nothing where that fails', async () => {
    await own.write(async (sql) => {
      await sql.run(INSERT, named(1));
      expect(await sql.askLast([note(2), IDS])).toMatchObject([{ count: 1 }, { count: 2 }]);
      expect(await stored()).toEqual([1, 2]);
    });
    const failing = own.write(async (sql) => {
      await sql.run(INSERT, named(3));
      await sql.askLast([note(4), note(1)]);
    });
    await expect(failing).rejects.toThrow(/duplicate key/);
    expect(await own.read((sql) => sql.all('SELECT id FROM notes WHERE id > 2'))).toEqual([]);
  });

  it('asks what nobody waits for ahead of its next statements, or of its end, and writes nothing where that fails', async () => {
    await own.write(async (sql) => {
      sql.askLater([note(1)]);
      expect(await sql.all('SELECT id FROM notes')).toEqual([{ id: 1 }]);
      sql.askLater([note(2), note(3)]);
    });
    const failing = own.write(async (sql) => {
      await sql.run(INSERT, named(4));
      sql.askLater([note(1)]);
    });
    await expect(failing).rejects.toThrow(/duplicate key/);
    expect(await stored()).toEqual([1, 2, 3]);
    const outside = own.statement(async (sql) => sql.askLater([note(5)]));
    await expect(outside).rejects.toThrow(/only a transaction/);
  });

  it('that only reads sees one moment, and refuses to write', async () => {
    const seen = await own.snapshot(async (sql) => {
      const before = await sql.all('SELECT id FROM notes');
      await shared.sql('INSERT INTO notes (id) VALUES (9)', url);
      return [before, await sql.all('SELECT id FROM notes')];
    });
    expect(seen).toEqual([[], []]);
    await expect(own.snapshot((sql) => sql.run(INSERT, named(1)))).rejects.toThrow(/read-only/);
    expect(await stored()).toEqual([9]);
  });
});

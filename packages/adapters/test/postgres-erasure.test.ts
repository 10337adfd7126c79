import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_TENANT, type LaneId, type Ledger } from '@slowwave/engine';
import { createMemoryIndex, describeErasedAndBack, type ErasedAndBackStores } from '@slowwave/engine-testing';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERASING } from '../src/ledger/erasures.ts';
import {
  eraseForgotten,
  eraseMarked,
  filesWithMarker,
  forgottenLife,
  KEPT,
  relationsOfAnn,
  subjectsInTrail,
  twoLives,
} from './erased-life.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';

describe('an erasure in PostgreSQL', () => {
  let shared: LedgerServer;

  beforeAll(async () => {
    shared = await ledgerServer();
  });
  afterAll(() => shared.stop());

  it('leaves no byte of the user in any table or index, and says where else some may be', async () => {
    const ledger = await shared.open();
    const bench = await twoLives({ ledger, index: createMemoryIndex() });
    await shared.sql('ANALYZE; CHECKPOINT');
    const [row] = await shared.sql('SHOW data_directory');
    const folder = String(row?.data_directory);
    const inTables = () => filesWithMarker(folder, (path) => /\/base\/|\/global\//.test(path));
    expect(await inTables()).not.toEqual([]);
    const before = await bench.live('bob');
    const over = await eraseMarked(bench);
    expect(over).toMatchObject({ state: 'erased', counts: { batches: 41 } });
    expect(over?.remains).toEqual([expect.stringContaining('write-ahead log')]);
    expect(await inTables()).toEqual([]);
    expect(await bench.live('bob')).toEqual(before);
    expect(await subjectsInTrail(bench)).toEqual({ erasure: 200, user: 200 });
    for (const set of ["actor = 'somebody else'", "subject_kind = 'erasure', status = 200", "subject_id = 'eve'"]) {
      await expect(shared.sql(`UPDATE slowwave.trail SET ${set}`)).rejects.toThrow('not changed');
    }
    await shared.sql("INSERT INTO slowwave.trail_posts VALUES ('default', 1, 'operator', '', 'a')");
    await shared.sql("UPDATE slowwave.trail_posts SET entries = entries || 'b'");
    for (const set of ["actor = 'somebody else'", "entries = 'b'"]) {
      await expect(shared.sql(`UPDATE slowwave.trail_posts SET ${set}`)).rejects.toThrow('not changed');
    }
    await shared.sql('DELETE FROM slowwave.trail_posts');
  });

  it('leaves no byte of what was forgotten for too long in any table or index', async () => {
    await shared.empty();
    const bench = await forgottenLife({ ledger: await shared.open(), index: createMemoryIndex() });
    await shared.sql('ANALYZE; CHECKPOINT');
    const [row] = await shared.sql('SHOW data_directory');
    const inTables = () => filesWithMarker(String(row?.data_directory), (path) => /\/base\/|\/global\//.test(path));
    expect(await inTables()).not.toEqual([]);
    const before = await bench.live();
    await eraseForgotten(bench);
    expect(await inTables()).toEqual([]);
    expect(await bench.live()).toEqual(before);
    expect(await relationsOfAnn(bench)).toEqual(['Ann likes tea']);
  });

  it('knows every table there is', async () => {
    await shared.open();
    const rows = await shared.sql("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'slowwave'");
    const erased = ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table));
    expect([...new Set([...erased, ...KEPT, 'lanes'])].sort(), 'a table belongs in ERASING, or in KEPT').toEqual(
      rows.map(({ name }) => name).sort(),
    );
  });

  describe('of an owner whose index is told of them at the same moment', () => {
    const failure = { code: 'index_refused', message: 'expected a vector', at: 1 };

    it.each([
      [
        'setting their lane aside',
        (ledger: Ledger, lane: LaneId) => ledger.outbox.setAside([{ lane, failures: 1, notBefore: 1, failure }]),
      ],
      ['telling of all of their lane again', (ledger: Ledger, lane: LaneId) => ledger.outbox.reproject(lane)],
    ])('%s waits until it is known that they go, and leaves nothing', async (_what, tell) => {
      await shared.empty();
      const ledger = await shared.open();
      const lane = await ledger.memories.laneOf(DEFAULT_TENANT, { kind: 'user', id: 'ann' }, 1);
      const other = new Client({ connectionString: shared.url });
      await other.connect();
      // As the request of an erasure does, and ended half-way.
      try {
        await other.query('BEGIN');
        await other.query('SELECT * FROM slowwave.lanes WHERE id = $1 FOR NO KEY UPDATE', [lane]);
        let done = false;
        const telling = tell(ledger, lane).finally(() => {
          done = true;
        });
        while (!done && !(await isWaiting())) await sleep(5);
        expect(done).toBe(false);
        await other.query("UPDATE slowwave.lanes SET erasure = 'era_1' WHERE id = $1", [lane]);
        await other.query('COMMIT');
        await telling;
      } finally {
        await other.end();
      }
      expect(await ledger.outbox.countAside()).toBe(0);
    });

    const isWaiting = async (): Promise<boolean> =>
      (await shared.sql('SELECT 1 FROM pg_locks WHERE NOT granted LIMIT 1')).length > 0;
  });

  describe('erased and back at once', () => {
    let stores: ErasedAndBackStores;

    beforeAll(async () => {
      await shared.empty();
      stores = { ledger: await shared.open(), index: createMemoryIndex() };
    });

    describeErasedAndBack(() => stores, { everyNth: 3 });
  });
});

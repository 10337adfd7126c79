import { createMemoryIndex, describeErasedAndBack, type ErasedAndBackStores } from '@slowwave/engine/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERASING, KEPT } from '../src/ledger/erasing.ts';
import { eraseMarked, filesWithMarker, subjectsInTrail, twoLives } from './erased-life.ts';
import { type LedgerServer, ledgerServer } from './postgres-ledger-fixture.ts';

describe('an erasure in PostgreSQL', () => {
  let shared: LedgerServer;

  beforeAll(async () => {
    shared = await ledgerServer();
  });
  afterAll(() => shared.stop());

  it('leaves no byte of the user in any table or index, and says where else some may be', {
    timeout: 120_000,
  }, async () => {
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
  });

  it('knows every table there is', async () => {
    await shared.open();
    const rows = await shared.sql("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'slowwave'");
    const erased = ERASING.flatMap(({ deletes }) => deletes.map(([table]) => table));
    expect([...new Set([...erased, ...KEPT, 'lanes'])].sort()).toEqual(rows.map(({ name }) => name).sort());
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

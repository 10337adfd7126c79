import { DEFAULT_TENANT, type IndexQuery, type LaneId, type Owner, type SearchIndex } from '@slowwave/engine';
import { describeIndexBuild, describeSearchIndex, indexPoint, indexQuery } from '@slowwave/engine-testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { indexServer } from './postgres-index-fixture.ts';
import { expectSameWhileWithdrawn, expectSameWhileWritten } from './written-again.ts';

const server = await indexServer();
afterAll(() => server.stop());

const OTHER_LANE = 'lane_other' as LaneId;

/** One index for each that is emptied for every test: making its tables each time would take most of the time. */
for (const [name, changed] of [
  ['in PostgreSQL', {}],
  ['in PostgreSQL, where one point is already very many', { cache: { many: 1 } }],
] as const) {
  const emptied = { ...(await server.open(server.newSchema(), changed)), close: async () => {} };
  describeSearchIndex(name, async () => {
    await emptied.clear();
    return { index: emptied, close: async () => {} };
  });
}

describeIndexBuild('in PostgreSQL', async () => {
  const schema = server.newSchema();
  return {
    index: await server.open(schema),
    openBuild: () => server.openBuild(schema),
    close: () => server.remove(schema),
  };
});

describe('an index in PostgreSQL', () => {
  let schema: string;
  beforeEach(() => {
    schema = server.newSchema();
  });
  afterEach(() => server.remove(schema));

  const MARKER = { ledgerId: 'led_1', fingerprint: 'suite' };
  const open = (changed = {}): Promise<SearchIndex> => server.open(schema, changed);
  const names = async (index: SearchIndex, given: Partial<IndexQuery> = {}): Promise<string[]> => {
    const [hits] = await index.search([indexQuery(given)]);
    return (hits ?? []).map((hit) => hit.point.memoryId);
  };

  test('what was written is there after closing and opening again', async () => {
    const first = await open();
    await first.stamp(MARKER);
    await first.upsert([indexPoint({ memoryId: 'm' })]);
    await first.close();
    const second = await open();
    expect(await second.marker()).toEqual(MARKER);
    expect(await names(second, { terms: ['tea'] })).toEqual(['m']);
  });

  test('what others write is seen at once, also by who has the owner in memory', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    for (const memoryId of ['m1', 'm2', 'm3']) {
      await one.upsert([indexPoint({ memoryId })]);
      expect(await names(other)).toContain(memoryId);
    }
    await one.upsert([indexPoint({ memoryId: 'm2', revision: 2, live: false })]);
    expect(await names(other)).toEqual(['m1', 'm3']);
    await one.withdraw([{ ...indexPoint({ memoryId: 'm1' }), revision: 2 }]);
    expect(await names(other)).toEqual(['m3']);
    await one.clear();
    expect(await names(other)).toEqual([]);
    await one.upsert([indexPoint({ memoryId: 'new' })]);
    expect(await names(other)).toEqual(['new']);
    await one.forget(indexQuery());
    expect(await names(other)).toEqual([]);
  });

  test('an owner that is written again and again is found as it is, by who keeps it and by who reads it anew', async () => {
    const [kept, many, grown, fresh] = await Promise.all([
      open(),
      open({ cache: { many: 1 } }),
      open({ cache: { many: 30 } }),
      open({ cache: { bytes: 0, bytesOfMany: 0 } }),
    ]);
    await expectSameWhileWritten(fresh, [kept, many, grown]);
    expect(await names(kept, { limit: 100 })).toHaveLength(await kept.count(DEFAULT_TENANT));
  });

  test('an owner of whom nearly all is withdrawn is found as it is', async () => {
    await expectSameWhileWithdrawn(open);
  });

  test.each([{}, { cache: { many: 1 } }])(
    'who searches while others write sees what was written at once, or nothing of it: %o',
    async (changed) => {
      const [written, read] = [await open(), await open(changed)];
      let isOver = false;
      const writing = (async () => {
        for (let round = 1; round <= 60; round += 1) {
          const ids = ['m1', 'm2', `other${round % 5}`];
          const points = ids.map((memoryId) => indexPoint({ memoryId, revision: round, text: `round ${round}` }));
          await written.upsert(points);
        }
        isOver = true;
      })();
      const looking = Array.from({ length: 6 }, async (_, n) => {
        while (!isOver) {
          const questions = Array.from({ length: 1 + (n % 3) }, () => indexQuery({ terms: ['tea'] }));
          for (const hits of await read.search(questions)) {
            const texts = hits.filter(({ point }) => /^m/.test(point.memoryId)).map(({ point }) => point.text);
            expect(texts).toEqual(texts.length === 0 ? [] : [texts[0], texts[0]]);
          }
        }
      });
      await Promise.all([writing, ...looking]);
      expect(await names(read, { limit: 100 })).toEqual(await names(written, { limit: 100 }));
    },
  );

  test('several may make a new index at once, and write at once', async () => {
    const indexes = await Promise.all([open(), open(), open()]);
    await Promise.all(
      indexes.flatMap((index, i) =>
        Array.from({ length: 10 }, (_, n) => {
          const owners = ['a', 'b', 'c', 'd'].map((id): Owner => ({ kind: 'user', id }));
          if ((i + n) % 2 === 0) owners.reverse();
          return index.upsert(owners.map((owner) => indexPoint({ memoryId: `m${i}-${n}`, owner })));
        }),
      ),
    );
    const counts = await Promise.all(indexes.map((index) => index.count(DEFAULT_TENANT)));
    expect(counts).toEqual([120, 120, 120]);
  });

  test('of many revisions written at once the newest stays', async () => {
    const index = await open();
    const revisions = [3, 9, 1, 7, 5, 8, 2, 6, 4];
    await Promise.all(
      revisions.map((revision) => index.upsert([indexPoint({ memoryId: 'm', revision, text: `said ${revision}` })])),
    );
    const [hits] = await index.search([indexQuery()]);
    expect(hits?.map((hit) => hit.point.text)).toEqual(['said 9']);
  });

  test('while a new index takes over, writes go into the old one or the new one, and none into nowhere', async () => {
    const index = await open();
    const build = await server.openBuild(schema);
    const note = { ledgerId: 'led_1', startedAt: 0, after: null, afterBatch: null, memories: 0, points: 0 };
    await build.begin(note);
    const written: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let n = 0; !isOver || n < 20; n += 1) {
        await index.upsert([indexPoint({ memoryId: `m${n}` })]);
        written.push(`m${n}`);
      }
    })();
    while (written.length < 10) await names(index);
    await build.takeOver();
    const before = new Set(written);
    while (written.length < before.size + 10) await names(index);
    isOver = true;
    await writing;
    await build.finish(MARKER);
    const found = await names(index, { limit: 10_000 });
    expect(found.sort()).toEqual(written.slice(written.length - found.length).sort());
    expect(found.length).toBeGreaterThanOrEqual(9);
    const rows = `SELECT owner FROM ${schema}.loose UNION SELECT owner FROM ${schema}.blocks`;
    expect(await server.sql(rows)).toEqual(await server.sql(`SELECT number AS owner FROM ${schema}.owners`));
  });

  test('owners whose ids are told apart by half characters only are strangers', async () => {
    const index = await open();
    const owners = ['a\ud800', 'a\udfff', 'a\ufffd', 'a\0', 'a\u001a0000'].map((id): Owner => ({ kind: 'user', id }));
    await index.upsert(owners.map((owner, i) => indexPoint({ memoryId: `m${i}`, owner })));
    const answers = await index.search(owners.map((owner) => indexQuery({ owner })));
    expect(answers.map((hits) => hits.map((hit) => hit.point))).toEqual(
      owners.map((owner, i) => [expect.objectContaining({ memoryId: `m${i}`, owner })]),
    );
  });

  test('an index of another vector space is not believed, not searched, not written, until it is cleared', async () => {
    const old = await open();
    await old.stamp(MARKER);
    await old.upsert([indexPoint({ memoryId: 'm' })]);
    const renewed = await open({ dimensions: 2, fingerprint: 'other' });
    const vector = Float32Array.of(1, 0);
    expect(await renewed.marker()).toEqual({ ledgerId: 'led_1', fingerprint: expect.stringContaining('"suite"') });
    await expect(renewed.search([indexQuery({ vector })])).rejects.toMatchObject({
      code: 'index_unavailable',
      message: expect.stringMatching(/expected .*"dimensions":2.* got .*"dimensions":4.* rebuilt/),
    });
    await expect(renewed.upsert([indexPoint({ memoryId: 'n', vector })])).rejects.toThrow('rebuilt');
    await renewed.clear();
    await renewed.upsert([indexPoint({ memoryId: 'n', vector })]);
    expect(await names(renewed, { vector })).toEqual(['n']);
    await expect(old.search([indexQuery()])).rejects.toThrow('rebuilt');
  });

  test('tables of an older format are emptied, to be filled from the ledger, and a newer one is refused', async () => {
    const first = await open();
    await first.stamp(MARKER);
    await first.upsert([indexPoint({ memoryId: 'm' })]);
    await server.sql(`UPDATE ${schema}.state SET format = 0`);
    const index = await open();
    expect(await index.marker()).toBeNull();
    expect(await index.count(DEFAULT_TENANT)).toBe(0);
    await server.sql(`UPDATE ${schema}.state SET format = 99`);
    await expect(open()).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: false,
      message: expect.stringMatching(/format 99.*rebuilt from the ledger/),
    });
  });

  test('tables of another program are refused and left as they are', async () => {
    await server.sql(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.precious (x integer)`);
    await expect(open()).rejects.toThrow('tables of another program');
    expect(await server.sql(`SELECT * FROM ${schema}.precious`)).toEqual([]);
  });

  test('an index that was dropped on the server says so, and is made again at the next start', async () => {
    const index = await open();
    await server.sql(`DROP SCHEMA ${schema} CASCADE`);
    await expect(index.search([indexQuery()])).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: true,
      message: expect.stringMatching(/is missing.*restart/),
    });
    expect(await (await open()).marker()).toBeNull();
  });

  test('what was forgotten is in no page of the tables once they are compacted', async () => {
    const index = await open();
    const secret = 'the cake is under the third stair';
    await index.upsert([indexPoint({ memoryId: 'm', text: secret }), indexPoint({ memoryId: 'n', lane: OTHER_LANE })]);
    const pages = async (): Promise<string> => {
      const [row] = await server.sql(
        `SELECT string_agg(encode(pg_read_binary_file(pg_relation_filepath(c.oid)), 'escape'), '') AS bytes
          FROM pg_class c WHERE relkind IN ('r', 't') AND '${schema}'::regnamespace IN (
            relnamespace, (SELECT t.relnamespace FROM pg_class t WHERE t.reltoastrelid = c.oid))`,
      );
      return String(row?.bytes);
    };
    await server.sql('CHECKPOINT');
    expect(await pages()).toContain('third stair');
    expect(await index.forget(indexQuery())).toBe(1);
    expect(await index.compact()).toMatchObject({ done: true });
    await server.sql('CHECKPOINT');
    expect(await pages()).not.toContain('third stair');
    expect(await names(index, { lane: OTHER_LANE })).toEqual(['n']);
  });

  test('vectors with numbers that are not finite are refused', async () => {
    const index = await open();
    const vector = Float32Array.of(1, Number.NaN, 0, 0);
    await expect(index.upsert([indexPoint({ memoryId: 'm', vector })])).rejects.toMatchObject({ retryable: false });
  });

  test('a closed index says so', async () => {
    const index = await open();
    await index.close();
    await index.close();
    await expect(index.count(DEFAULT_TENANT)).rejects.toMatchObject({
      code: 'index_unavailable',
      message: expect.stringContaining('closed'),
    });
  });
});

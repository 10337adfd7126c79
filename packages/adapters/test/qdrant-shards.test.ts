import { DEFAULT_TENANT, type IndexPoint, type SearchIndex, type TenantId } from '@slowwave/engine';
import { describeIndexBuild, describeSearchIndex, indexPoint, indexQuery } from '@slowwave/engine-testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openQdrantBuild, promoteOnQdrant } from '../src/qdrant/open.ts';
import { shardKey } from '../src/qdrant/points.ts';
import type { QdrantOptions } from '../src/qdrant/server.ts';
import { type TestQdrant, testQdrant } from './qdrant-fixture.ts';

const LARGE = 'large' as TenantId;
const SHARDS = 3;
const COMMON = Array.from({ length: SHARDS }, (_, n) => `common-${n}`);
const MARKER = { ledgerId: 'led_1', fingerprint: 'suite' };

const qdrant = await testQdrant();
if (qdrant !== null && !qdrant.inCluster) {
  test('without the cluster mode of the server, tenants cannot have shards of their own, and it says what to do', async () => {
    const alias = qdrant.newAlias();
    await expect(qdrant.open(alias, { shards: SHARDS })).rejects.toMatchObject({
      code: 'index_unavailable',
      retryable: false,
      message: expect.stringMatching(/cluster mode.*QDRANT__CLUSTER__ENABLED/),
    });
    await qdrant.remove(alias);
  });
}
if (qdrant?.inCluster === true) {
  const { newAlias, open, remove, statistics, options } = qdrant;
  describeSearchIndex(
    'on Qdrant, with shards of tenants',
    async () => {
      const alias = newAlias();
      return { index: await open(alias, { shards: SHARDS }), close: () => remove(alias) };
    },
    { statistics, randomFilters: 20 },
  );
  describeIndexBuild('on Qdrant, with shards of tenants', async () => {
    const alias = newAlias();
    const sharded = { ...options, alias, shards: SHARDS };
    return {
      index: await open(alias, { shards: SHARDS }),
      openBuild: () => openQdrantBuild(sharded),
      close: () => remove(alias),
    };
  });
  describeShards(qdrant);
}

function describeShards({ newAlias, open, remove, client, options }: TestQdrant): void {
  describe('a tenant with a shard of its own', () => {
    let at: QdrantOptions;
    let alias: string;
    let index: SearchIndex;
    beforeEach(async () => {
      alias = newAlias();
      at = { ...options, alias, shards: SHARDS };
      index = await open(alias, { shards: SHARDS });
      await index.stamp(MARKER);
    });
    afterEach(() => remove(alias));

    const point = (n: number, given: Partial<IndexPoint> = {}): IndexPoint =>
      indexPoint({ memoryId: `m${String(n).padStart(4, '0')}`, tenant: LARGE, ...given });
    const promoted = (cancel = new AbortController().signal): Promise<boolean> =>
      promoteOnQdrant(at, LARGE, { cancel, onProgress: () => {} });
    const names = async (tenant: TenantId = LARGE): Promise<readonly string[]> => {
      const [hits] = await index.search([indexQuery({ tenant, limit: 2_000 })]);
      return (hits ?? []).map((hit) => hit.point.memoryId);
    };
    /** Points of the tenant, withdrawn ones too, in its own shard and in the others. */
    const shardsOf = async (): Promise<{ own: number; common: number }> => {
      const filter = { must: [{ key: 'home', match: { value: shardKey(LARGE) } }] };
      const count = async (shard_key: string | string[]): Promise<number> =>
        (await client.count(alias, { shard_key, filter, exact: true })).count;
      const own = await count(shardKey(LARGE)).catch(() => 0);
      return { own, common: await count(COMMON) };
    };

    test('has all that it had, and nothing of it is left where the others are', async () => {
      await index.upsert(Array.from({ length: 300 }, (_, n) => point(n)));
      await index.upsert([point(7, { tenant: DEFAULT_TENANT })]);
      await index.withdraw([point(299, { revision: 5 })]);
      const before = await index.search([indexQuery({ tenant: LARGE, limit: 2_000 })]);
      expect(await shardsOf()).toEqual({ own: 0, common: 300 });
      expect(await promoted()).toBe(true);
      expect(await index.search([indexQuery({ tenant: LARGE, limit: 2_000 })])).toEqual(before);
      expect(await shardsOf()).toEqual({ own: 300, common: 0 });
      expect([await index.count(LARGE), await index.count(DEFAULT_TENANT)]).toEqual([299, 1]);
      expect(await names(DEFAULT_TENANT)).toEqual(['m0007']);
      // What was withdrawn before does not come back with an older write.
      await index.upsert([point(299, { revision: 4 })]);
      expect(await names()).toHaveLength(299);
      expect(await promoted()).toBe(false);
    });

    test('is found while it gets it, and what is written meanwhile is there after it', async () => {
      await index.upsert(Array.from({ length: 1_000 }, (_, n) => point(n)));
      let isOver = false;
      const writing = (async () => {
        let round = 0;
        for (; !isOver || round < 20; round += 1) {
          await index.upsert([point(round, { revision: 2, text: 'said anew' }), point(2_000 + round)]);
          await index.withdraw([point(500 + round, { revision: 2 })]);
        }
        return round;
      })();
      const asking = (async () => {
        while (!isOver) expect((await names()).length).toBeGreaterThan(900 - 500);
      })();
      await promoted();
      isOver = true;
      const [rounds] = await Promise.all([writing, asking]);
      const found = new Set(await names());
      expect(found.size).toBe(1_000);
      for (let n = 0; n < rounds; n += 1) {
        expect(found.has(point(2_000 + n).memoryId)).toBe(true);
        expect(found.has(point(500 + n).memoryId)).toBe(false);
      }
      expect((await shardsOf()).common).toBe(0);
    });

    test('gets it in the end when that is interrupted', async () => {
      await index.upsert(Array.from({ length: 50 }, (_, n) => point(n)));
      await expect(promoted(AbortSignal.abort())).rejects.toThrow();
      expect(await names()).toHaveLength(50);
      await index.upsert([point(60)]);
      await promoted();
      expect(await names()).toHaveLength(51);
      expect(await shardsOf()).toEqual({ own: 51, common: 0 });
    });

    test('keeps it when the index is built anew', async () => {
      await index.upsert([point(1)]);
      await promoted();
      await index.clear();
      await index.upsert([point(2)]);
      expect(await shardsOf()).toEqual({ own: 1, common: 0 });
      expect(await names()).toEqual(['m0002']);
    });

    test('is forgotten wherever it is, also where a copy was left', async () => {
      await index.upsert([point(1), point(2)]);
      const filter = { must: [{ key: 'home', match: { value: shardKey(LARGE) } }] };
      const [left] = (await client.scroll(alias, { filter, with_payload: true, limit: 1 })).points;
      const counts = await Promise.all(COMMON.map((shard_key) => client.count(alias, { shard_key, filter })));
      const shard_key = COMMON[counts.findIndex(({ count }) => count > 0)] ?? '';
      await promoted();
      // As if the process had been killed before it removed the copy.
      const copy = { id: left?.id ?? '', payload: left?.payload ?? {}, vector: {} };
      await client.upsert(alias, { shard_key, points: [copy], wait: true });
      expect(await shardsOf()).toEqual({ own: 2, common: 1 });
      await index.forget(indexQuery({ tenant: LARGE }));
      expect(await shardsOf()).toEqual({ own: 0, common: 0 });
      // And what is left of others goes at the next start.
      await index.upsert([point(3)]);
      await client.upsert(alias, { shard_key, points: [copy], wait: true });
      await open(alias, { shards: SHARDS });
      expect(await shardsOf()).toEqual({ own: 1, common: 0 });
    });
  });
}

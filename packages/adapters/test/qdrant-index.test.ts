import { DEFAULT_TENANT, type IndexQuery, type Owner, type SearchIndex } from '@slowwave/engine';
import { describeSearchIndex, indexPoint, indexQuery, SUITE_SPACE } from '@slowwave/engine-testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type TestQdrant, testQdrant } from './qdrant-fixture.ts';

const MARKER = { ledgerId: 'led_1', fingerprint: 'suite' };

const qdrant = await testQdrant();
if (qdrant !== null) {
  const { newAlias, open, remove, statistics } = qdrant;
  describeSearchIndex(
    'on Qdrant',
    async () => {
      const alias = newAlias();
      return { index: await open(alias), close: () => remove(alias) };
    },
    { statistics, randomFilters: 200 },
  );
  describeQdrant(qdrant);
}

function describeQdrant({ newAlias, open, remove, client }: TestQdrant): void {
  describe('an index on Qdrant', () => {
    let alias: string;
    beforeEach(() => {
      alias = newAlias();
    });
    afterEach(() => remove(alias));

    const names = async (index: SearchIndex, given: Partial<IndexQuery> = {}): Promise<string[]> => {
      const [hits] = await index.search([indexQuery(given)]);
      return (hits ?? []).map((hit) => hit.point.memoryId);
    };
    const behind = async (): Promise<string | undefined> => {
      const { aliases } = await client.getAliases();
      return aliases.find(({ alias_name }) => alias_name === alias)?.collection_name;
    };

    test('what was written is there after closing and opening again', async () => {
      const first = await open(alias);
      await first.stamp(MARKER);
      await first.upsert([indexPoint({ memoryId: 'm' })]);
      await first.close();
      const second = await open(alias);
      expect(await second.marker()).toEqual(MARKER);
      expect(await names(second, { terms: ['tea'] })).toEqual(['m']);
    });

    test('its collection is made for many owners: no common graph, indexed fields, words weighed by rarity', async () => {
      await open(alias);
      const { config, payload_schema } = await client.getCollection(alias);
      expect(config.hnsw_config).toMatchObject({ m: 0, payload_m: 16 });
      expect(config.params.sparse_vectors).toMatchObject({ terms: { modifier: 'idf' } });
      expect(payload_schema.owner?.params).toMatchObject({ type: 'keyword', is_tenant: true });
      expect(payload_schema.tenant?.params).toMatchObject({ type: 'keyword', is_tenant: true });
      expect(payload_schema.said_seq?.params).toMatchObject({ type: 'integer', enable_hnsw: false });
    });

    test('several may open a new index at once, and write at once', async () => {
      const indexes = await Promise.all([open(alias), open(alias), open(alias)]);
      await Promise.all(
        indexes.flatMap((index, i) =>
          Array.from({ length: 5 }, (_, n) => index.upsert([indexPoint({ memoryId: `m${i}-${n}` })])),
        ),
      );
      const counts = await Promise.all(indexes.map((index) => index.count(DEFAULT_TENANT)));
      expect(counts).toEqual([15, 15, 15]);
    });

    test('of many revisions written at once the newest stays', async () => {
      const index = await open(alias);
      const revisions = [3, 9, 1, 7, 5, 8, 2, 6, 4];
      await Promise.all(
        revisions.map((revision) => index.upsert([indexPoint({ memoryId: 'm', revision, text: `said ${revision}` })])),
      );
      const [hits] = await index.search([indexQuery()]);
      expect(hits?.map((hit) => hit.point.text)).toEqual(['said 9']);
    });

    test('more points than one call takes are all written, each by its own revision', async () => {
      const index = await open(alias);
      const points = Array.from({ length: 600 }, (_, i) => indexPoint({ memoryId: `m${i}`, revision: 2 + (i % 2) }));
      await index.upsert(points);
      await index.upsert(points.map((point) => ({ ...point, revision: 2, text: 'older or equal' })));
      expect(await index.count(DEFAULT_TENANT)).toBe(600);
      const [hits] = await index.search([indexQuery({ limit: 1_000 })]);
      expect(hits?.filter((hit) => hit.point.text === 'older or equal')).toHaveLength(300);
    });

    test('among more equal memories than are looked at first, the lowest ids win', async () => {
      const index = await open(alias);
      await index.upsert(
        Array.from({ length: 60 }, (_, i) => indexPoint({ memoryId: `m${String(i).padStart(2, '0')}` })),
      );
      expect(await names(index, { terms: ['tea'], limit: 3 })).toEqual(['m00', 'm01', 'm02']);
    });

    test('a moment and the largest number of an explicit write are compared exactly', async () => {
      const index = await open(alias);
      const at = 1_772_366_400_123;
      const seq = Number.MAX_SAFE_INTEGER;
      await index.upsert([
        indexPoint({ memoryId: 'explicit', live: false, saidAt: { at, seq } }),
        indexPoint({ memoryId: 'just-before', live: false, saidAt: { at, seq: seq - 1 } }),
      ]);
      const saidAfter = (said: { at: number; seq: number }) =>
        names(index, { visibility: { kind: 'live_or_said_after', after: said } });
      expect(await saidAfter({ at, seq })).toEqual([]);
      expect(await saidAfter({ at, seq: seq - 1 })).toEqual(['explicit']);
      expect(await saidAfter({ at, seq: seq - 2 })).toEqual(['explicit', 'just-before']);
      expect(await saidAfter({ at: at + 1, seq: 0 })).toEqual([]);
    });

    test('owners whose ids are told apart by half characters only are strangers', async () => {
      const index = await open(alias);
      const owners = ['a\ud800', 'a\udfff', 'a\ufffd'].map((id): Owner => ({ kind: 'user', id }));
      await index.upsert(owners.map((owner, i) => indexPoint({ memoryId: `m${i}`, owner })));
      const answers = await index.search(owners.map((owner) => indexQuery({ owner })));
      expect(answers.map((hits) => hits.map((hit) => hit.point))).toEqual(
        owners.map((owner, i) => [expect.objectContaining({ memoryId: `m${i}`, owner })]),
      );
    });

    test('an index of another embedder is not believed, not searched, not written, until it is cleared', async () => {
      const old = await open(alias);
      await old.stamp(MARKER);
      await old.upsert([indexPoint({ memoryId: 'm' })]);
      const renewed = await open(alias, { fingerprint: 'other' });
      expect(await renewed.marker()).not.toMatchObject({ fingerprint: 'other' });
      for (const refused of [
        () => renewed.search([indexQuery()]),
        () => renewed.upsert([indexPoint({ memoryId: 'n' })]),
      ]) {
        await expect(refused()).rejects.toMatchObject({
          code: 'index_unavailable',
          retryable: true,
          message: expect.stringContaining('got one of another model'),
        });
      }
      await expect(renewed.stamp({ ...MARKER, fingerprint: 'other' })).rejects.toThrow('clear it first');
      await renewed.clear();
      await renewed.upsert([indexPoint({ memoryId: 'n' })]);
      expect(await names(renewed)).toEqual(['n']);
      await expect(old.search([indexQuery()])).rejects.toThrow('got one of another model');
    });

    test('a collection of an older release is not believed, and one of this release takes over when it is cleared', async () => {
      const old = `${alias}_0123456789ab_t1`;
      const vectors = { dense_0123456789ab: { size: SUITE_SPACE.dimensions, distance: 'Cosine' as const } };
      await client.createCollection(old, { vectors, sparse_vectors: { terms: { modifier: 'idf' } } });
      const actions = [{ create_alias: { alias_name: alias, collection_name: old } }];
      await client.updateCollectionAliases({ actions });
      const index = await open(alias);
      expect(await index.marker()).toEqual({ ledgerId: 'unknown', fingerprint: 'unknown' });
      await index.clear();
      expect(await index.marker()).toBeNull();
      await index.upsert([indexPoint({ memoryId: 'm', contextTerms: ['kyoto'] })]);
      expect(await names(index, { terms: ['kyoto'], wide: true, vector: null })).toEqual(['m']);
      expect((await client.getCollections()).collections.map(({ name }) => name)).not.toContain(old);
    });

    test('a new index of another embedder without a marker is not taken for an empty one', async () => {
      await open(alias);
      const other = await open(alias, { dimensions: 2 });
      expect(await other.marker()).toEqual({ ledgerId: 'unknown', fingerprint: 'unknown' });
    });

    test('clearing leaves no collection but the new one', async () => {
      const index = await open(alias);
      for (let i = 0; i < 3; i += 1) {
        await index.upsert([indexPoint({ memoryId: 'm' })]);
        await index.clear();
        const { collections } = await client.getCollections();
        expect(collections.filter(({ name }) => name.startsWith(alias))).toEqual([{ name: await behind() }]);
        expect(await index.count(DEFAULT_TENANT)).toBe(0);
      }
    });

    test('how vectors are kept may change between two starts', async () => {
      const plain = await open(alias);
      await plain.upsert([indexPoint({ memoryId: 'm' })]);
      const small = await open(alias, { quantized: true });
      expect((await client.getCollection(alias)).config.quantization_config).toMatchObject({
        scalar: { type: 'int8' },
      });
      expect(await names(small)).toEqual(['m']);
      await open(alias);
      expect((await client.getCollection(alias)).config.quantization_config ?? null).toBeNull();
    });

    test('an index that was deleted on the server says so, and is made again at the next start', async () => {
      const index = await open(alias);
      await remove(alias);
      await expect(index.search([indexQuery()])).rejects.toMatchObject({
        code: 'index_unavailable',
        retryable: true,
        message: expect.stringMatching(/doesn't exist.*restart/),
      });
      expect(await (await open(alias)).marker()).toBeNull();
    });

    test('a collection with vectors of another length under the same name is refused', async () => {
      await open(alias);
      const name = (await behind()) ?? '';
      const { config } = await client.getCollection(name);
      const [dense = ''] = Object.keys(config.params.vectors ?? {});
      await client.deleteCollection(name);
      await client.createCollection(name, { vectors: { [dense]: { size: 2, distance: 'Cosine' } } });
      await expect(open(alias)).rejects.toMatchObject({
        retryable: false,
        message: expect.stringMatching(/of 4 dimensions, got 2 dimensions; delete the collection/),
      });
    });

    test('vectors with numbers that are not finite are refused', async () => {
      const index = await open(alias);
      const vector = Float32Array.of(1, Number.NaN, 0, 0);
      await expect(index.upsert([indexPoint({ memoryId: 'm', vector })])).rejects.toMatchObject({ retryable: false });
    });

    test('a closed index says so', async () => {
      const index = await open(alias);
      await index.close();
      await index.close();
      await expect(index.count(DEFAULT_TENANT)).rejects.toMatchObject({
        code: 'index_unavailable',
        message: expect.stringContaining('closed'),
      });
    });
  });
}

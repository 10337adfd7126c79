import { DEFAULT_TENANT, readFilter, type SearchIndex } from '@slowwave/engine';
import { FILTER_CASES, indexPoint, indexQuery } from '@slowwave/engine-testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testQdrant } from './qdrant-fixture.ts';

const qdrant = await testQdrant();

/** As hosted servers are set up: what no index helps with is refused. */
const STRICT = { enabled: true, unindexed_filtering_retrieve: false, unindexed_filtering_update: false };

if (qdrant !== null) {
  describe('mem0 #3159: "index required but not found for user_id", from a server that is strict', () => {
    let alias: string;
    let index: SearchIndex;
    beforeEach(async () => {
      alias = qdrant.newAlias();
      index = await qdrant.open(alias);
      await index.stamp({ ledgerId: 'led_strict', fingerprint: 'suite' });
      const { collections } = await qdrant.client.getCollections();
      for (const { name } of collections.filter((one) => one.name.startsWith(alias))) {
        await qdrant.client.updateCollection(name, { strict_mode_config: STRICT });
      }
    });
    afterEach(async () => {
      await index.close();
      await qdrant.remove(alias);
    });

    test('the server is as strict as that', async () => {
      const filter = { must: [{ key: 'unknown', match: { value: 'x' } }] };
      await expect(qdrant.client.scroll(alias, { filter })).rejects.toThrow('Bad Request');
    });

    test('it takes every filter', async () => {
      const point = indexPoint({ memoryId: 'plain' });
      await index.upsert([point]);
      const questions = FILTER_CASES.map(({ filter }) => indexQuery({ where: readFilter(filter) }));
      const found = (await index.search(questions)).map((hits) => hits.map((hit) => hit.point.memoryId));
      expect(found).toEqual(FILTER_CASES.map(({ finds }) => finds.filter((id) => id === 'plain')));
    });

    test('here every question and every change goes by fields that are indexed', async () => {
      const point = indexPoint({ memoryId: 'mem_1', text: 'Ann drinks tea' });
      await index.upsert([point]);
      await index.upsert([{ ...point, revision: 2, text: 'Ann drinks green tea' }]);
      const { saidAt, validFrom } = point;
      const asked = await index.search([
        indexQuery({ terms: ['tea'], filter: { agentId: 'a', runId: 'r', appId: 'p' } }),
        indexQuery({ terms: ['tea'] }),
        indexQuery({ visibility: { kind: 'as_of', at: validFrom } }),
        indexQuery({ visibility: { kind: 'live_or_said_after', after: { ...saidAt, seq: 0 } } }),
      ]);
      const found = asked.map((hits) => [...new Set(hits.map((hit) => hit.point.text))]);
      expect(found).toEqual([[], ...Array.from({ length: 3 }, () => ['Ann drinks green tea'])]);
      expect(await index.count(DEFAULT_TENANT)).toBe(1);
      await index.clear();
      expect(await index.count(DEFAULT_TENANT)).toBe(0);
    });
  });
}

import { DEFAULT_TENANT, type IndexPoint } from '@slowwave/engine';
import { indexPoint, indexQuery, recordingLog } from '@slowwave/engine/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RebuildOptions, type RebuildProgress, rebuildQdrant } from '../src/qdrant/index.ts';
import { type TestQdrant, testQdrant } from './qdrant-fixture.ts';

const NEW = { fingerprint: 'new', dimensions: 2 };
const HOUR_MS = 3_600_000;
/** When the ledgers of these tests were filled, and when they are rebuilt. */
const WRITTEN = 1_772_366_400_000;
const NOW = WRITTEN + HOUR_MS;

const qdrant = await testQdrant();
if (qdrant !== null) describeRebuild(qdrant);

function describeRebuild({ newAlias, open, remove, client, url, apiKey }: TestQdrant): void {
  describe('rebuilding the index on Qdrant', () => {
    let alias: string;
    beforeEach(() => {
      alias = newAlias();
    });
    afterEach(() => remove(alias));

    const rebuild = (ledger: TestLedger, changed: Partial<RebuildOptions> = {}) =>
      rebuildQdrant({
        url,
        apiKey,
        alias,
        log: recordingLog(),
        ...NEW,
        ledgerId: 'led_1',
        now: () => NOW,
        page: ledger.page,
        ...changed,
      });
    const collections = async (): Promise<string[]> =>
      (await client.getCollections()).collections.map(({ name }) => name).filter((name) => name.startsWith(alias));
    const found = async (): Promise<string[]> => {
      const index = await open(alias, NEW);
      const [hits] = await index.search([indexQuery({ vector: Float32Array.of(1, 0), limit: 1_000 })]);
      return (hits ?? []).map((hit) => hit.point.text);
    };

    test('the new collection takes over complete and stamped, and the old one goes on request', async () => {
      const old = await open(alias);
      await old.stamp({ ledgerId: 'led_1', fingerprint: 'suite' });
      await old.upsert([indexPoint({ memoryId: 'old' })]);
      const done = await rebuild(testLedger(450));
      expect(done).toMatchObject({ points: 450, resumed: false, previous: expect.stringContaining(alias) });
      expect(await collections()).toHaveLength(2);
      expect(await (await open(alias, NEW)).marker()).toEqual({ ledgerId: 'led_1', fingerprint: 'new' });
      expect(await found()).toHaveLength(450);
      await expect(old.search([indexQuery()])).rejects.toThrow("got another one's");

      const again = await rebuild(testLedger(3), { dropOld: true });
      expect(again).toMatchObject({ points: 3, previous: done.collection });
      expect(await found()).toEqual(['text 0', 'text 1', 'text 2']);
      expect(await collections()).not.toContain(done.collection);
    });

    test('until the end everybody goes on with the old collection', async () => {
      const old = await open(alias);
      await old.upsert([indexPoint({ memoryId: 'old' })]);
      const during: number[] = [];
      await rebuild(testLedger(5), {
        page: async (request) => {
          if (request.changedSince === null) during.push((await old.search([indexQuery()])).flat().length);
          return testLedger(5).page(request);
        },
      });
      expect(during).toEqual([1]);
    });

    test('one that was stopped goes on behind the last page it wrote', async () => {
      const ledger = testLedger(500);
      const stopped = rebuild(ledger, {
        page: async (request) => {
          if (request.after === 'm0399') throw new Error('stopped');
          return ledger.page(request);
        },
      });
      await expect(stopped).rejects.toThrow('stopped');
      const asked: (string | null)[] = [];
      const done = await rebuild(ledger, {
        page: async (request) => {
          if (request.changedSince === null) asked.push(request.after);
          return ledger.page(request);
        },
      });
      expect(done).toMatchObject({ resumed: true, points: 500 });
      expect(asked).toEqual(['m0399']);
      expect(await found()).toHaveLength(500);
    });

    test('one that was stopped after the move is not believed, and goes on to its end', async () => {
      const ledger = testLedger(3);
      let changes = 0;
      const stopped = rebuild(ledger, {
        page: async (request) => {
          if (request.changedSince !== null) changes += 1;
          if (changes === 2) throw new Error('stopped');
          return ledger.page(request);
        },
      });
      await expect(stopped).rejects.toThrow('stopped');
      const index = await open(alias, NEW);
      expect(await index.marker()).toBeNull();
      expect(await rebuild(ledger)).toMatchObject({ resumed: true });
      expect(await index.marker()).toEqual({ ledgerId: 'led_1', fingerprint: 'new' });
    });

    test('what is written meanwhile is in the new collection, too', async () => {
      const ledger = testLedger(300);
      await rebuild(ledger, {
        page: async (request) => {
          const page = await ledger.page(request);
          // Behind the first walk a memory changes; behind the second, just before the move, another one.
          if (request.changedSince === null && request.after !== null) ledger.change('m0001', 'changed at once');
          if (request.changedSince === NOW - 300_000) ledger.change('m0002', 'changed at last');
          return page;
        },
      });
      const texts = await found();
      expect(texts).toHaveLength(300);
      expect(texts).toEqual(expect.arrayContaining(['changed at once', 'changed at last']));
    });

    test('what an interrupted rebuild of another ledger left is thrown away', async () => {
      const foreign = rebuild(testLedger(300), {
        ledgerId: 'led_other',
        page: async (request) => {
          if (request.after !== null) throw new Error('stopped');
          return testLedger(300).page(request);
        },
      });
      await expect(foreign).rejects.toThrow('stopped');
      expect(await rebuild(testLedger(2))).toMatchObject({ resumed: false, points: 2 });
      expect(await (await open(alias, NEW)).count(DEFAULT_TENANT)).toBe(2);
    });

    test('it says how far it is', async () => {
      const said: RebuildProgress[] = [];
      await rebuild(testLedger(250), { onProgress: (progress) => said.push(progress) });
      expect(said.map(({ pass, points, last }) => [pass, points, last])).toEqual([
        ['all', 200, 'm0199'],
        ['all', 250, null],
        ['changes', 250, 'm0199'],
        ['changes', 250, null],
        ['last changes', 250, 'm0199'],
        ['last changes', 250, null],
      ]);
    });
  });
}

interface TestLedger {
  readonly page: RebuildOptions['page'];
  change(memoryId: string, text: string): void;
}

/** Memories m0000, m0001, … of one version each, as the ledger would give them. */
function testLedger(size: number): TestLedger {
  const points = Array.from({ length: size }, (_, i) =>
    indexPoint({
      memoryId: `m${String(i).padStart(4, '0')}`,
      text: `text ${i}`,
      vector: Float32Array.of(1, 0),
      updatedAt: WRITTEN,
    }),
  );
  return {
    page: async ({ after, limit, changedSince }) => {
      const rest = points.filter(({ memoryId }) => after === null || memoryId > after);
      const looked = rest.slice(0, limit);
      const changed = (point: IndexPoint): boolean => changedSince === null || point.updatedAt >= changedSince;
      return { points: looked.filter(changed), last: rest.length > limit ? (looked.at(-1)?.memoryId ?? null) : null };
    },
    change: (memoryId, text) => {
      const i = points.findIndex((point) => point.memoryId === memoryId);
      const before = points[i];
      if (before === undefined) throw new Error(`no memory ${memoryId}`);
      points[i] = { ...before, text, revision: before.revision + 1, updatedAt: NOW };
    },
  };
}

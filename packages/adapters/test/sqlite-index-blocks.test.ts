import { join } from 'node:path';
import { DEFAULT_TENANT, type IndexPoint, type LaneId, type SearchIndex } from '@slowwave/engine';
import { indexPoint, indexQuery, pick, SUITE_SPACE, seeded } from '@slowwave/engine-testing';
import { type TempDir, tempDir } from '@slowwave/testkit';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteIndex } from '../src/sqlite/index.ts';
import { pointsIn } from '../src/sqlite/search-index/packed-records.ts';
import { SLOTS, type StoredRow } from '../src/sqlite/search-index/tables.ts';

const OWNER = { kind: 'user' as const, id: 'ann' };
const OLD = 'lane_old' as LaneId;
const NEW = 'lane_new' as LaneId;
/** As many as dozens of blocks have, of which one is not full. */
const POINTS = 1_700;

/** One owner's points through their life in a file; each test goes on where the one before ended. */
describe('an owner with more points than a block has', () => {
  let folder: TempDir;
  let path: string;
  let index: SearchIndex;
  /** Has read nothing before, and so reads from the file what the other one has in memory. */
  let fresh: SearchIndex;
  /** Looks the owner up in lists and codes, as one with very many points. */
  let many: SearchIndex;
  const held = new Map<string, IndexPoint>();
  const random = seeded(3);

  beforeAll(async () => {
    folder = await tempDir();
    path = join(folder.path, 'index.db');
    index = await openSqliteIndex({ path, ...SUITE_SPACE });
    fresh = await openSqliteIndex({ path, ...SUITE_SPACE, cache: { bytes: 0 } });
    many = await openSqliteIndex({ path, ...SUITE_SPACE, cache: { many: 1 } });
  });
  afterAll(async () => {
    await Promise.all([index, fresh, many].map((one) => one.close()));
    await folder.remove();
  });

  const anyPoint = (n: number, given: Partial<IndexPoint> = {}): IndexPoint => {
    const vector = Float32Array.from({ length: 4 }, () => random() - 0.5);
    const terms = [pick(['tea', 'milk', 'cup'], random), pick(['green', 'black'], random)];
    const lane = n % 3 === 0 ? OLD : NEW;
    return indexPoint({ memoryId: `m${n}`, lane, terms, text: terms.join(' '), vector, ...given });
  };
  const write = async (points: readonly IndexPoint[]): Promise<void> => {
    await index.upsert(points);
    for (const one of points) held.set(one.memoryId, one);
  };
  const expectAll = async (): Promise<void> => {
    const asked = { owner: OWNER, limit: POINTS * 2, terms: ['tea'] };
    const names = [...held.keys()].sort();
    for (const one of [index, fresh, many]) {
      const hits = (await one.search([OLD, NEW].map((lane) => indexQuery({ ...asked, lane })))).flat();
      expect(hits.map((hit) => hit.point.memoryId).sort()).toEqual(names);
      for (const { point, keywordScore } of hits) {
        expect(point.text).toBe(held.get(point.memoryId)?.text);
        expect(keywordScore !== null).toBe(held.get(point.memoryId)?.terms.includes('tea'));
      }
    }
    expect(await index.count(DEFAULT_TENANT)).toBe(held.size);
  };
  const isInBlock = (memoryId: string): boolean => {
    const file = new Database(path, { readonly: true });
    const blocks = file.prepare<[], StoredRow>('SELECT * FROM blocks').all();
    file.close();
    const points = blocks.flatMap((block) => pointsIn(block, block.row % SLOTS));
    return points.some(({ head, said }) => said !== null && head.memoryId === memoryId);
  };

  test('is found whole while it grows, in large steps and in small ones', async () => {
    await write(Array.from({ length: 700 }, (_, n) => anyPoint(n)));
    await expectAll();
    for (let n = 700; n < POINTS; n += 50) {
      await write(Array.from({ length: 50 }, (_, i) => anyPoint(n + i)));
      await index.search([indexQuery({ owner: OWNER, lane: NEW })]);
    }
    await expectAll();
    for (let n = 0; n < 80; n += 1) {
      await write([anyPoint(POINTS + n)]);
      await index.search([indexQuery({ owner: OWNER, lane: NEW })]);
    }
    await expectAll();
  });

  test('is found as it is after changes anywhere in it', async () => {
    const changed = Array.from({ length: 90 }, (_, i) => anyPoint((i * 37) % POINTS, { revision: 2 }));
    for (let i = 0; i < changed.length; i += 30) {
      await write(changed.slice(i, i + 30));
      await expectAll();
    }
  });

  test('keeps nothing of what was withdrawn in a block', async () => {
    expect(isInBlock('m77')).toBe(true);
    await index.withdraw([anyPoint(77, { revision: 9 })]);
    held.delete('m77');
    expect(isInBlock('m77')).toBe(false);
    await expectAll();
  });

  test('keeps what is of another lane when one is forgotten, and nothing of that one', async () => {
    const others = [...held.values()].filter(({ lane }) => lane === OLD);
    expect(isInBlock('m300')).toBe(true);
    expect(await index.forget({ tenant: DEFAULT_TENANT, owner: OWNER, lane: OLD })).toBe(others.length);
    for (const { memoryId } of others) held.delete(memoryId);
    expect(isInBlock('m300')).toBe(false);
    await expectAll();
    await write(Array.from({ length: 10 }, (_, n) => anyPoint(5_001 + n)));
    await expectAll();
  });

  test('answers many at once, whoever asks', async () => {
    const asked = Array.from({ length: 40 }, () => index.search([indexQuery({ owner: OWNER, lane: NEW, limit: 5 })]));
    const names = (await Promise.all(asked)).map(([hits]) => (hits ?? []).map((hit) => hit.point.memoryId).join());
    expect(new Set(names).size).toBe(1);
    expect(names[0]?.split(',')).toHaveLength(5);
  });
});

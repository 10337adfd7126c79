import { join } from 'node:path';
import { DEFAULT_TENANT, type IndexBuild } from '@slowwave/engine';
import { describeIndexBuild, indexPoint, indexQuery, SUITE_SPACE } from '@slowwave/engine-testing';
import { tempDir } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { openSqliteBuild, openSqliteIndex } from '../src/sqlite/index.ts';

describeIndexBuild('in a SQLite file', async () => {
  const folder = await tempDir();
  const path = join(folder.path, 'index.db');
  const index = await openSqliteIndex({ path, ...SUITE_SPACE });
  const builds: { close(): Promise<void> }[] = [];
  return {
    index,
    openBuild: async (): Promise<IndexBuild> => {
      const build = await openSqliteBuild({ path, ...SUITE_SPACE });
      builds.push(build);
      return build;
    },
    close: async () => {
      await Promise.all([index, ...builds].map((open) => open.close()));
      await folder.remove();
    },
  };
});

test('an index for another embedder is built while the old one is searched; after the move only the new one fits', async () => {
  const folder = await tempDir();
  const path = join(folder.path, 'index.db');
  const other = { path, dimensions: 2, fingerprint: 'other' };
  const vector = Float32Array.of(1, 0);
  const old = await openSqliteIndex({ path, ...SUITE_SPACE });
  await old.upsert([indexPoint({ memoryId: 'm' })]);
  const build = await openSqliteBuild(other);
  await build.begin({ ledgerId: 'led_1', startedAt: 0, after: null, afterBatch: null, memories: 0, points: 0 });
  await build.write([indexPoint({ memoryId: 'm', vector }), indexPoint({ memoryId: 'n', vector })]);
  expect((await old.search([indexQuery()]))[0]).toHaveLength(1);

  await build.takeOver();
  await build.finish({ ledgerId: 'led_1', fingerprint: 'other' });
  await expect(old.search([indexQuery()])).rejects.toMatchObject({ code: 'index_unavailable', retryable: true });
  await expect(old.upsert([indexPoint({ memoryId: 'x' })])).rejects.toThrow('rebuilt');
  const renewed = await openSqliteIndex(other);
  expect(await renewed.marker()).toEqual({ ledgerId: 'led_1', fingerprint: 'other' });
  expect((await renewed.search([indexQuery({ vector })]))[0]).toHaveLength(2);
  expect(await renewed.count(DEFAULT_TENANT)).toBe(2);

  await Promise.all([old, build, renewed].map((open) => open.close()));
  await folder.remove();
});

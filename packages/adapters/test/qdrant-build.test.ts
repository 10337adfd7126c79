import type { IndexBuild } from '@slowwave/engine';
import { describeIndexBuild, indexPoint, indexQuery, recordingLog, SUITE_SPACE } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { openQdrantBuild, type QdrantBuildOptions } from '../src/qdrant/open.ts';
import { type TestQdrant, testQdrant } from './qdrant-fixture.ts';

const NOTE = { ledgerId: 'led_1', startedAt: 0, after: null, afterBatch: null, memories: 0, points: 0 };
const OTHER = { fingerprint: 'other', dimensions: 2 };

const qdrant = await testQdrant();
if (qdrant !== null) describeBuild(qdrant);

function describeBuild({ newAlias, open, remove, client, url, apiKey }: TestQdrant): void {
  const openBuild = (alias: string, changed: Partial<QdrantBuildOptions> = {}): Promise<IndexBuild> =>
    openQdrantBuild({ url, apiKey, alias, log: recordingLog(), ...SUITE_SPACE, ...changed });
  const collections = async (alias: string): Promise<string[]> =>
    (await client.getCollections()).collections.map(({ name }) => name).filter((name) => name.startsWith(alias));

  describeIndexBuild('on Qdrant', async () => {
    const alias = newAlias();
    const index = await open(alias);
    return { index, openBuild: () => openBuild(alias), close: () => remove(alias) };
  });

  test('an index for another embedder takes over on Qdrant; whoever has the old one is refused', async () => {
    const alias = newAlias();
    const old = await open(alias);
    await old.upsert([indexPoint({ memoryId: 'old' })]);
    const build = await openBuild(alias, OTHER);
    await build.begin(NOTE);
    await build.write([indexPoint({ memoryId: 'm', vector: Float32Array.of(1, 0) })]);
    expect((await old.search([indexQuery()]))[0]).toHaveLength(1);
    await build.takeOver();
    await expect(old.search([indexQuery()])).rejects.toThrow('got one of another model');
    await build.finish({ ledgerId: 'led_1', fingerprint: 'other' });
    expect(await (await open(alias, OTHER)).marker()).toEqual({ ledgerId: 'led_1', fingerprint: 'other' });
    expect(await collections(alias)).toHaveLength(1);
    await remove(alias);
  });

  test('the old collection on Qdrant stays on request', async () => {
    const alias = newAlias();
    await open(alias);
    const before = await collections(alias);
    const build = await openBuild(alias, { keepOld: true });
    await build.begin(NOTE);
    await build.takeOver();
    await build.finish({ ledgerId: 'led_1', fingerprint: 'suite' });
    expect(await collections(alias)).toEqual(expect.arrayContaining(before));
    expect(await collections(alias)).toHaveLength(2);
    await remove(alias);
  });
}

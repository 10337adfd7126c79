import type { BuildNote, IndexBuild, LaneId, SearchIndex } from '@slowwave/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NOON, point, query, SUITE_SPACE } from './search-index-suite-points.ts';

/** One stored index, and builds beside it. */
export interface IndexBuildFixture {
  /** The index as other processes have it open. */
  readonly index: SearchIndex;
  /** Opens the building side, as a process does that is started again. */
  openBuild(): Promise<IndexBuild>;
  close(): Promise<void>;
}

const MARKER = { ledgerId: 'led_1', fingerprint: SUITE_SPACE.fingerprint };
const NOTE: BuildNote = { ledgerId: 'led_1', startedAt: NOON, after: null, afterBatch: null, memories: 0, points: 0 };

/** What every index in the making promises, whatever it is made of. */
export function describeIndexBuild(name: string, open: () => Promise<IndexBuildFixture>): void {
  describe(`an index in the making ${name}`, () => {
    let fixture: IndexBuildFixture;
    let build: IndexBuild;

    beforeEach(async () => {
      fixture = await open();
      await fixture.index.upsert([point({ memoryId: 'old' })]);
      await fixture.index.stamp(MARKER);
      build = await fixture.openBuild();
    });
    afterEach(() => fixture.close());

    const found = async (lane = point({ memoryId: 'any' }).lane): Promise<string[]> => {
      const [hits] = await fixture.index.search([query({ lane, limit: 1_000 })]);
      return (hits ?? []).map((hit) => hit.point.memoryId).sort();
    };

    test('until it takes over, everybody goes on with the old one', async () => {
      expect(await build.begun('led_1')).toBeNull();
      await build.begin(NOTE);
      await build.write([point({ memoryId: 'a' }), point({ memoryId: 'b' })]);
      expect(await found()).toEqual(['old']);
      await fixture.index.upsert([point({ memoryId: 'old too' })]);
      expect(await found()).toEqual(['old', 'old too']);
      expect(await fixture.index.marker()).toEqual(MARKER);
    });

    test('from one moment to the next it is the index, believed once it is finished', async () => {
      await build.begin(NOTE);
      await build.write([point({ memoryId: 'a' })]);
      expect(await found()).toEqual(['old']);
      await build.takeOver();
      expect(await found()).toEqual(['a']);
      expect(await fixture.index.marker()).toBeNull();
      await fixture.index.upsert([point({ memoryId: 'b' })]);
      await build.write([point({ memoryId: 'c' })]);
      expect(await found()).toEqual(['a', 'b', 'c']);
      await build.finish(MARKER);
      expect(await fixture.index.marker()).toEqual(MARKER);
      expect(await found()).toEqual(['a', 'b', 'c']);
      expect(await build.begun('led_1')).toBeNull();
    });

    test('of two states of a memory the newer one stays, in whichever order they come', async () => {
      await build.begin(NOTE);
      await build.write([point({ memoryId: 'a', revision: 2, text: 'new' })]);
      await build.write([point({ memoryId: 'a', revision: 1, text: 'old' })]);
      await build.takeOver();
      const [hits] = await fixture.index.search([query()]);
      expect(hits?.map((hit) => hit.point.text)).toEqual(['new']);
    });

    test('what was withdrawn meanwhile is not in it', async () => {
      await build.begin(NOTE);
      await build.write([point({ memoryId: 'a' }), point({ memoryId: 'b' })]);
      await build.withdraw([point({ memoryId: 'a', revision: 2 })]);
      await build.write([point({ memoryId: 'a' })]);
      await build.takeOver();
      expect(await found()).toEqual(['b']);
      await build.withdraw([point({ memoryId: 'b', revision: 2 })]);
      expect(await found()).toEqual([]);
    });

    test('one that stops goes on where its note says, before the move and after it', async () => {
      await build.begin(NOTE);
      await build.write([point({ memoryId: 'a' })]);
      const noted = { ...NOTE, after: 'a', memories: 1, points: 1, byWords: ['lane_a' as LaneId] };
      await build.note(noted);
      const second = await fixture.openBuild();
      expect(await second.begun('led_1')).toMatchObject(noted);
      await second.write([point({ memoryId: 'b' })]);
      await second.takeOver();
      const third = await fixture.openBuild();
      expect(await third.begun('led_1')).toMatchObject(noted);
      await third.write([point({ memoryId: 'c' })]);
      await third.takeOver();
      await third.finish(MARKER);
      expect(await found()).toEqual(['a', 'b', 'c']);
      expect(await (await fixture.openBuild()).begun('led_1')).toBeNull();
    });

    test('a lane that is forgotten meanwhile is forgotten in both', async () => {
      const mine = point({ memoryId: 'mine' });
      await build.begin(NOTE);
      const other = 'lane_other' as LaneId;
      await build.write([mine, point({ memoryId: 'a', lane: other })]);
      await fixture.index.forget(mine);
      await build.write([point({ memoryId: 'late' })]);
      expect(await build.forget(mine)).toBe(1);
      expect(await found()).toEqual([]);
      await build.takeOver();
      expect([await found(), await found(other)]).toEqual([[], ['a']]);
    });

    test('what another ledger has begun is thrown away', async () => {
      await build.begin({ ...NOTE, ledgerId: 'led_other' });
      await build.write([point({ memoryId: 'foreign' })]);
      const mine = await fixture.openBuild();
      expect(await mine.begun('led_1')).toBeNull();
      await mine.begin(NOTE);
      await mine.write([point({ memoryId: 'a' })]);
      await mine.takeOver();
      await mine.finish(MARKER);
      expect(await found()).toEqual(['a']);
    });

    test('one after the other, each replaces the one before', async () => {
      for (const memoryId of ['first', 'second', 'third']) {
        const next = await fixture.openBuild();
        expect(await next.begun('led_1')).toBeNull();
        await next.begin(NOTE);
        await next.write([point({ memoryId })]);
        expect(await found()).not.toContain(memoryId);
        await next.takeOver();
        expect(await found()).toEqual([memoryId]);
        await next.finish(MARKER);
      }
      expect((await fixture.index.page(null, 10)).points.map(({ memoryId }) => memoryId)).toEqual(['third']);
    });
  });
}

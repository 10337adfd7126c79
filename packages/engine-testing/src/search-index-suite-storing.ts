import { cosine, DEFAULT_TENANT, roundedVector, type SearchIndex, shownPart } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { HARD_TEXTS } from './hard-texts.ts';
import { ask, found, foundBy, NOON, OTHER_TENANT, point, SUITE_SPACE } from './search-index-suite-points.ts';

const MARKER = { ledgerId: 'led_1', fingerprint: SUITE_SPACE.fingerprint };

/** Writing, marking, counting, clearing. */
export function describeStoring(index: () => SearchIndex): void {
  describe('storing', () => {
    test('a point comes back as it was given, without vector and terms', async () => {
      const given = point({
        memoryId: 'm',
        text: 'Line 1\n"quoted" 北京 👍 \u0000',
        metadata: { deep: [1, { a: null }, 'x'], yes: true },
        sourceIds: ['msg_1', 'msg_2'],
        category: 'food',
        immutable: true,
        confirmations: 3,
        expiresAt: NOON + 1,
      });
      await index().upsert([given]);
      const hits = await ask(index());
      expect(hits.map((hit) => hit.point)).toEqual([shownPart(given)]);
    });

    test.each(HARD_TEXTS)('a point comes back whose text and metadata have %s', async (_what, text) => {
      const given = point({ memoryId: 'm', text, metadata: { note: text, list: [text] } });
      await index().upsert([given]);
      expect((await ask(index())).map((hit) => hit.point)).toEqual([shownPart(given)]);
    });

    test('what is thought of a point is written again at the same revision, and missing where nothing is', async () => {
      await index().upsert([point({ memoryId: 'm' })]);
      expect((await ask(index())).map((hit) => hit.point.feedback)).toEqual([undefined]);
      await index().upsert([point({ memoryId: 'm', feedback: -0.625 })]);
      expect((await ask(index())).map((hit) => hit.point.feedback)).toEqual([-0.625]);
      await index().upsert([point({ memoryId: 'm' })]);
      expect((await ask(index())).map((hit) => hit.point.feedback)).toEqual([undefined]);
    });

    test('the same point written again is still one point', async () => {
      const given = point({ memoryId: 'm' });
      await index().upsert([given, given]);
      await index().upsert([given]);
      expect(await found(index())).toEqual(['m.1']);
      expect(await index().count(DEFAULT_TENANT)).toBe(1);
    });

    test('versions of one memory are points of their own', async () => {
      await index().upsert([point({ memoryId: 'm', version: 1 }), point({ memoryId: 'm', version: 2 })]);
      expect(await found(index())).toEqual(['m.1', 'm.2']);
    });

    test('a newer revision replaces an older one in every part', async () => {
      await index().upsert([point({ memoryId: 'm', text: 'Ann drinks tea' })]);
      expect(await found(index(), { terms: ['tea'] })).toEqual(['m.1']);
      const vector = Float32Array.of(0, 1, 0, 0);
      await index().upsert([point({ memoryId: 'm', revision: 2, text: 'Ann drinks milk', vector, confirmations: 9 })]);
      expect(await found(index(), { vector: null, terms: ['tea'] })).toEqual([]);
      const [hit] = await ask(index(), { terms: ['milk'] });
      expect(hit?.point).toMatchObject({ revision: 2, text: 'Ann drinks milk', confirmations: 9 });
      expect(hit?.vectorScore).toBeCloseTo(0, 5);
      expect(hit?.keywordScore).toBeGreaterThan(0);
    });

    test('an older revision never replaces a newer one, nor within one call', async () => {
      const newer = point({ memoryId: 'm', revision: 3, text: 'new' });
      const older = point({ memoryId: 'm', revision: 2, text: 'old' });
      await index().upsert([newer, older]);
      await index().upsert([older]);
      expect((await ask(index())).map((hit) => hit.point.text)).toEqual(['new']);
    });

    test('what is written is found at once, also after earlier searches', async () => {
      for (const memoryId of ['a', 'b', 'c']) {
        await index().upsert([point({ memoryId })]);
        expect(await found(index())).toContain(`${memoryId}.1`);
      }
    });

    test('points are counted per tenant', async () => {
      await index().upsert([point({ memoryId: 'a' }), point({ memoryId: 'b' })]);
      await index().upsert([point({ memoryId: 'c', tenant: OTHER_TENANT })]);
      expect(await index().count(DEFAULT_TENANT)).toBe(2);
      expect(await index().count(OTHER_TENANT)).toBe(1);
    });

    test('a withdrawn point is neither found nor counted, and the others stay', async () => {
      const [gone, kept] = [point({ memoryId: 'm', version: 1 }), point({ memoryId: 'm', version: 2, text: 'tea' })];
      await index().upsert([gone, kept]);
      expect(await foundBy(index(), 'drinks')).toEqual(['m.1']);
      await index().withdraw([{ ...gone, revision: 3 }]);
      expect(await found(index())).toEqual(['m.2']);
      expect(await foundBy(index(), 'drinks')).toEqual([]);
      expect(await found(index(), { visibility: { kind: 'as_of', at: NOON } })).toEqual(['m.2']);
      const everything = { kind: 'live_or_said_after', after: { at: 0, seq: 0 } } as const;
      expect(await found(index(), { visibility: everything })).toEqual(['m.2']);
      expect((await index().page(null, 10)).points.map(({ version }) => version)).toEqual([2]);
      expect(await index().count(DEFAULT_TENANT)).toBe(1);
    });

    test('a withdrawn point comes back with a newer revision only', async () => {
      const given = point({ memoryId: 'm', revision: 2 });
      await index().withdraw([{ ...given, revision: 3 }]);
      await index().upsert([given]);
      expect(await found(index())).toEqual([]);
      await index().upsert([{ ...given, revision: 4 }, point({ memoryId: 'n' })]);
      await index().withdraw([{ ...given, revision: 3 }]);
      expect(await found(index())).toEqual(['m.1', 'n.1']);
      expect(await index().count(DEFAULT_TENANT)).toBe(2);
    });

    test('a point that is withdrawn at its own revision does not come back with it', async () => {
      const given = point({ memoryId: 'm', revision: 2 });
      await index().upsert([given, point({ memoryId: 'n' })]);
      for (let times = 0; times < 2; times += 1) {
        await index().withdraw([given]);
        await index().upsert([given]);
        expect(await found(index())).toEqual(['n.1']);
      }
      await index().upsert([{ ...given, revision: 3 }]);
      expect(await found(index())).toEqual(['m.1', 'n.1']);
    });

    test('writing nothing does nothing', async () => {
      await index().upsert([]);
      await index().withdraw([]);
      expect(await index().count(DEFAULT_TENANT)).toBe(0);
    });

    test('vectors are read back by the names of their points, at whatever revision', async () => {
      const vector = Float32Array.of(0, 0.6, 0.8, 0);
      const here = point({ memoryId: 'm', vector, revision: 3 });
      const message = point({ memoryId: 'm', shelf: 'messages' });
      const wordless = point({ memoryId: 'n', vector: new Float32Array(4) });
      const gone = point({ memoryId: 'gone' });
      await index().upsert([here, message, wordless, gone]);
      await index().withdraw([{ ...gone, revision: 2 }]);
      const others = [point({ memoryId: 'm', version: 2 }), point({ memoryId: 'm', tenant: OTHER_TENANT })];
      const asked = [{ ...here, revision: 1 }, message, wordless, gone, ...others];
      const vectors = await index().vectors(asked);
      expect(vectors.slice(2)).toEqual([null, null, null, null]);
      // Some servers keep only where they point to.
      expect(cosine(vectors[0] ?? vector.map(() => 0), roundedVector(vector))).toBeCloseTo(1, 6);
      expect(cosine(vectors[1] ?? vector.map(() => 0), Float32Array.of(1, 0, 0, 0))).toBeCloseTo(1, 6);
      expect(await index().vectors([])).toEqual([]);
    });

    test('vectors of another length are refused, and nothing of that call is written', async () => {
      await index().upsert([point({ memoryId: 'a' })]);
      const wrong = point({ memoryId: 'c', vector: Float32Array.of(1, 0) });
      await expect(index().upsert([point({ memoryId: 'b' }), wrong])).rejects.toThrow(/4 dimensions.* 2/);
      await expect(ask(index(), { vector: Float32Array.of(1) })).rejects.toThrow(/4 dimensions.* 1/);
      expect(await index().count(DEFAULT_TENANT)).toBe(1);
    });
  });

  describe('the marker', () => {
    test('a new index has none, a stamped one says whose it is', async () => {
      expect(await index().marker()).toBeNull();
      await index().stamp(MARKER);
      await index().stamp(MARKER);
      expect(await index().marker()).toEqual(MARKER);
    });

    test('an index with points of one ledger is not taken over by another', async () => {
      await index().stamp(MARKER);
      await index().upsert([point({ memoryId: 'm' })]);
      await expect(index().stamp({ ...MARKER, ledgerId: 'led_2' })).rejects.toThrow('clear it first');
      expect(await index().marker()).toEqual(MARKER);
    });

    test('clearing takes every point and the marker, and leaves an index to use', async () => {
      await index().stamp(MARKER);
      await index().upsert([point({ memoryId: 'm' }), point({ memoryId: 'n', tenant: OTHER_TENANT })]);
      expect(await found(index())).toEqual(['m.1']);
      await index().clear();
      expect(await index().marker()).toBeNull();
      expect(await found(index())).toEqual([]);
      expect(await index().count(OTHER_TENANT)).toBe(0);
      await index().stamp({ ...MARKER, ledgerId: 'led_2' });
      await index().upsert([point({ memoryId: 'new' })]);
      expect(await found(index())).toEqual(['new.1']);
    });
  });
}

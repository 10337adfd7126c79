import { expect, it, onTestFinished } from 'vitest';
import { get } from './client.ts';
import { factsAsked, openMovedIndex, twice, underLoad, WITHIN } from './moved-index.ts';
import { standalone } from './setups.ts';

const MEMORIES = 30;
const ASKED = [0, 4, 9, 15, 22, 29];

/** The same with more processes, one that is killed, and a larger load: ./scripts/prove index-move. */
it(
  'an index is moved to another embedder under load: it finds no less at any time, embeds each text once, and goes back and forth',
  async () => {
    const moved = await openMovedIndex(standalone, { next: true });
    onTestFinished(() => moved.close());
    const { recalled, patch, move } = moved;
    await moved.seed(MEMORIES);
    const before = await recalled(ASKED);
    expect(before).toBe(1);
    expect(await move()).toBeNull();
    expect((await moved.start({ dry_run: true })).body.estimate).toMatchObject({ texts: 2 * MEMORIES });
    expect((await moved.start()).status).toBe(200);
    expect(Math.min(...(await underLoad(moved, { asked: ASKED, after: 1 })))).toBeGreaterThanOrEqual(before);
    expect((await move()).comparison).toMatchObject({ passed: true });
    await moved.seed(1);
    const all = [...ASKED, moved.written - 1];
    expect(await recalled(all)).toBe(1);
    for (const name of ['old-model', 'new-model'] as const) expect(twice(moved.embedded(name))).toEqual([]);
    expect(moved.embedded('new-model').size).toBe(moved.written);

    const facts = factsAsked(moved.embedded('new-model')) + factsAsked(moved.embedded('old-model'));
    expect((await patch({ state: 'switched' })).status).toBe(409);
    for (const state of ['ready', 'switched', 'confirmed']) {
      expect((await patch({ state })).status).toBe(200);
      expect(await recalled(all)).toBe(1);
    }
    // From now on the new embedder is the only one.
    await moved.without({ SLOWWAVE_EMBEDDING_MODEL: 'new-model', SLOWWAVE_EMBEDDING_DIMENSIONS: '256' });
    expect(await recalled(all)).toBe(1);
    expect(factsAsked(moved.embedded('new-model')) + factsAsked(moved.embedded('old-model'))).toBe(facts);
    expect((await get(`${moved.at.console}/v1/doctor?depth=usual`)).body).toMatchObject({ healthy: true });
  },
  3 * WITHIN.timeout,
);

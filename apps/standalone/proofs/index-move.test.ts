import { join } from 'node:path';
import { openSqliteIndex } from '@slowwave/adapters/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { call, get } from '../test/client.ts';
import {
  FACT,
  factsAsked,
  type MovedIndex,
  openMovedIndex,
  twice,
  underLoad,
  WITHIN,
  WITHIN_MS,
} from '../test/moved-index.ts';
import { fourProcesses, fourProcessesOnPostgres, type OpenSetup, type Setup, standalone } from '../test/setups.ts';

/** Two pages of the walk, and three calls of the embedder for each. */
const MEMORIES = 60;
const ASKED = Array.from({ length: 15 }, (_, i) => i * 4);
/** Recalls that are seen after the switch. */
const AFTER = 3;

async function open(way: OpenSetup): Promise<MovedIndex> {
  const moved = await openMovedIndex(way);
  onTestFinished(() => moved.close());
  await moved.seed(MEMORIES);
  return moved;
}

describe.each([
  ['one process', standalone],
  ['four processes', fourProcesses],
  ['four processes on PostgreSQL alone', fourProcessesOnPostgres],
])('an index that is moved to another embedder, by %s', (_, way) => {
  it(
    'finds no less at any time under load, embeds each text once, and goes back and forth without embedding',
    async () => {
      const moved = await open(way);
      const { recalled, patch, move } = moved;
      const before = await recalled(ASKED);
      expect(before).toBeGreaterThan(0.9);
      await moved.withNext();
      expect((await moved.start()).status).toBe(200);
      expect(Math.min(...(await underLoad(moved, { asked: ASKED, after: AFTER })))).toBeGreaterThanOrEqual(before);
      expect((await move()).comparison).toMatchObject({ passed: true, asked: expect.any(Number) });
      await moved.seed(0);
      const all = [...ASKED, moved.written - 1];
      expect(await recalled(all)).toBeGreaterThanOrEqual(before);
      for (const name of ['old-model', 'new-model'] as const) expect(twice(moved.embedded(name))).toEqual([]);
      expect(moved.embedded('new-model').size).toBe(moved.written);

      const facts = () => factsAsked(moved.embedded('new-model')) + factsAsked(moved.embedded('old-model'));
      const asked = facts();
      expect((await patch({ state: 'ready' })).status).toBe(200);
      await expect.poll(() => recalled(all), WITHIN).toBeGreaterThanOrEqual(before);
      expect((await patch({ state: 'switched' })).status).toBe(200);
      expect(facts()).toBe(asked);
      expect((await patch({ state: 'confirmed' })).status).toBe(200);
      expect(await recalled(all)).toBeGreaterThanOrEqual(before);
      await expect.poll(async () => (await move()).cleaned, WITHIN).toBe(true);
      expect(await recalled(all)).toBeGreaterThanOrEqual(before);

      // From now on the new embedder is the only one.
      await moved.without({ SLOWWAVE_EMBEDDING_MODEL: 'new-model', SLOWWAVE_EMBEDDING_DIMENSIONS: '256' });
      expect(await recalled(all)).toBeGreaterThanOrEqual(before);
      expect(facts()).toBe(asked);
      expect((await get(`${moved.at.console}/v1/doctor?depth=usual`)).body).toMatchObject({ healthy: true });
    },
    6 * WITHIN_MS,
  );
});

/** Texts of both indexes, whichever embedder they are of. */
async function textsIn({ dataDir }: Setup): Promise<string[]> {
  const texts: string[] = [];
  for (const file of ['index.db', 'index-2.db']) {
    const index = await openSqliteIndex({ path: join(dataDir, file), dimensions: 1, fingerprint: 'any' });
    for (let after: string | null = null; ; ) {
      const { points, next } = await index.page(after, 500);
      texts.push(...points.map(({ text }) => `${file} ${text}`));
      if (next === null) break;
      after = next;
    }
    await index.close();
  }
  return texts;
}

it(
  'a killed move refuses processes that do not know both embedders, goes on without embedding again, waits where a person wants to switch, and keeps nothing of who is erased meanwhile',
  async () => {
    const moved = await open(standalone);
    const { at, model, move, patch } = moved;
    // Enough questions to be compared by.
    expect(await moved.recalled(ASKED)).toBeGreaterThan(0.9);
    await moved.withNext();
    // The new model answers some calls, and is silent from then on.
    const answered = new Set<string>();
    let silent = 0;
    model.setEmbeddingScript(({ request, texts }) => {
      const facts = texts.filter((text) => FACT.test(text));
      if (request.model !== 'new-model' || facts.length === 0) return null;
      if (answered.size >= MEMORIES / 3) {
        silent += 1;
        return { timeout: true };
      }
      for (const text of facts) answered.add(text);
      return null;
    });
    expect((await moved.start({ auto: false })).status).toBe(200);
    await expect.poll(() => silent, WITHIN).toBeGreaterThan(0);
    await at.crash();
    const again: string[] = [];
    const since = new Set<string>();
    model.setEmbeddingScript(({ request, texts }) => {
      if (request.model !== 'new-model') return null;
      again.push(...texts.filter((text) => answered.has(text) || (FACT.test(text) && since.has(text))));
      for (const text of texts) since.add(text);
      return null;
    });
    await expect(moved.without()).rejects.toThrow(/the index is being moved from .*SLOWWAVE_NEXT_EMBEDDING_MODEL/);
    await moved.withNext();
    expect((await move()).state).toBe('filling');
    expect((await call('DELETE', `${at.console}/v1/users/bob`)).status).toBeLessThan(300);
    await expect.poll(move, WITHIN).toMatchObject({ state: 'ready', comparison: { passed: true } });
    expect(again).toEqual([]);
    const left = async () => (await textsIn(at)).filter((text) => text.includes('of bob'));
    await expect.poll(left, WITHIN).toEqual([]);
    const there = await textsIn(at);
    const memories = (file: string) => there.filter((text) => text.startsWith(file)).length;
    expect(memories('index-2.db')).toBe(memories('index.db'));
    expect((await patch({ state: 'ready' })).status).toBe(409);
    expect((await patch({ state: 'abandoned' })).status).toBe(200);
    await expect.poll(move, WITHIN).toBeNull();
    expect((await textsIn(at)).filter((text) => text.startsWith('index-2.db'))).toEqual([]);
    expect(await moved.recalled([0, 3, 6])).toBe(1);
  },
  6 * WITHIN_MS,
);

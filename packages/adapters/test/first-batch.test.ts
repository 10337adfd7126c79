import { builtinEmbedder } from '@slowwave/builtin-model';
import type { Embedder, NearThresholds } from '@slowwave/engine';
import { echoExtract, engineBench, fakeChat, keyedDecide, LIFE_CHANGES, MORE_CHANGES } from '@slowwave/engine-testing';
import { minilmFolder, tempDir } from '@slowwave/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEAR_HASHED, NEAR_LEARNT } from '../src/assemble/settings.ts';
import { openLocalEmbedder } from '../src/local/open.ts';
import { systemTools } from '../src/system/system.ts';

/** What has nothing to do with each other, though all of it is about one person. */
const UNRELATED = [
  'User lives in Oslo',
  'User is allergic to peanuts',
  'User is 34 years old',
  'User plays the violin',
  'User has a dog named Rex',
  'User is learning Spanish',
  'User drives a red Volvo',
  'User goes running on Sundays',
  'User prefers short answers',
  'User broke an arm as a child',
  'User has an account at ING',
  'User is reading War and Peace',
];
const PAIRS = UNRELATED.flatMap((one, i) => UNRELATED.slice(i + 1).map((other) => [one, other]));

interface Vectors {
  readonly embedder: Embedder;
  readonly near: NearThresholds;
}

/** Whether a decision is asked for, of nothing but these facts; all of them are remembered all the same. */
async function isDecided({ embedder, near }: Vectors, facts: readonly string[]): Promise<boolean> {
  const chat = fakeChat({ extract_facts: echoExtract, decide_operations: keyedDecide((text) => text) });
  const bench = await engineBench({ chat, embedder, settings: { near } });
  await bench.post(facts);
  await bench.run();
  expect(await bench.live()).toEqual(facts.toSorted());
  return chat.calls.some(({ name }) => name === 'decide_operations');
}

/** Of these batches, the share that is decided on. */
async function shareOf(vectors: Vectors, batches: readonly (readonly string[])[]): Promise<number> {
  let decided = 0;
  for (const facts of batches) if (await isDecided(vectors, facts)) decided += 1;
  return decided / batches.length;
}

describe('a first batch, with builtin vectors', () => {
  const hashed = { embedder: builtinEmbedder(systemTools), near: NEAR_HASHED };

  it.each([
    ['two unrelated facts are not decided on', ['User lives in Oslo', 'User is allergic to peanuts'], false],
    ['three neither', ['User is 34 years old', 'User plays the violin', 'User has a dog named Rex'], false],
    ['in Chinese neither', ['用户住在北京', '用户对花生过敏'], false],
    ['two that say something else of the same are', ['User lives in Oslo', 'User lives in Bergen'], true],
    ['two that end the same are', ['User has a dog named Rex', "User's dog Rex died"], true],
    ['what became otherwise is, in whatever words', ['User is a nurse', 'User became a paramedic'], true],
    ['so it is in German', ['Nutzer arbeitet im Büro', 'Nutzer ist jetzt Bergführer'], true],
  ])('%s', async (_what, facts, decided) => {
    expect(await isDecided(hashed, facts)).toBe(decided);
  });

  it('of one in five pairs of unrelated facts at most is decided on, and of 66 in 69 changes', async () => {
    expect(await shareOf(hashed, PAIRS)).toBeLessThanOrEqual(0.2);
    const changes = [...LIFE_CHANGES, ...MORE_CHANGES];
    expect(changes).toHaveLength(69);
    expect(await shareOf(hashed, changes)).toBeGreaterThanOrEqual(66 / 69);
  });
});

describe('a first batch, with the vectors of a model', () => {
  let folder: Awaited<ReturnType<typeof tempDir>>;
  let opened: Awaited<ReturnType<typeof openLocalEmbedder>> | null = null;
  beforeAll(async () => {
    folder = await tempDir();
    const minilm = await minilmFolder().catch(() => null);
    if (minilm === null) return;
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const source = { folder: minilm };
    const prefixes = { query: null, document: null };
    opened = await openLocalEmbedder({ source, prefixes, dataDir: folder.path, hub: '', log });
    await opened.ready(() => {});
  }, 600_000);
  afterAll(async () => {
    await opened?.close();
    await folder.remove();
  });

  it('is decided on in one in five cases of unrelated facts at most, and whenever something changes', async ({
    skip,
  }) => {
    if (opened === null) return skip('NOT TESTED: the model all-MiniLM-L6-v2 cannot be downloaded with pip here');
    const learnt = { embedder: opened.documents, near: NEAR_LEARNT };
    expect(await shareOf(learnt, PAIRS)).toBeLessThanOrEqual(0.2);
    expect(await shareOf(learnt, LIFE_CHANGES)).toBe(1);
  });
});

import { DEFAULT_TENANT } from '@slowwave/engine';
import { expect, test } from 'vitest';
import { searchBench } from './testing/bench.ts';

async function bench() {
  const made = await searchBench();
  const explain = async (query: string, more: object = {}) =>
    (await made.search({ user_id: 'ann', query, explain: true, ...more })).json();
  return { ...made, explain };
}

/** More than few, so that the cut goes by how likely they answer. */
const OTHERS = [
  'Ann plays the violin',
  'Ann bought red shoes',
  'Ann was in Rome',
  'Ann fears spiders',
  'Ann sings in a choir',
  'Ann has a scar on her knee',
  'Ann reads crime novels',
  'Ann lost her umbrella',
  'Ann paints landscapes',
  'Ann knows Morse code',
];

test('says of each result what each search and each factor gave it, and what its memory said before', async () => {
  const b = await bench();
  for (const text of OTHERS) await b.remember(text);
  const id = await b.remember('Ann drinks green tea');
  await b.writer.change(DEFAULT_TENANT, id, { text: 'Ann drinks black tea' });
  const { results } = await b.explain('Which tea does Ann drink?', { include: ['scores'] });
  const [first] = results;
  expect(first).toMatchObject({ id, memory: 'Ann drinks black tea' });
  const { keyword, vector, fused, boosts, chance, passed_over } = first.explanation;
  expect(keyword).toEqual({ score: first.scores.keyword, rank: 1 });
  expect(vector.score).toBe(first.scores.vector);
  expect(fused).toBeGreaterThan(0.8);
  expect(boosts.shared).toBe(0.1);
  expect(chance).toBeGreaterThan(0);
  expect(passed_over).toMatchObject([{ version: 1, memory: 'Ann drinks green tea' }]);
});

test('says where the results end, and which memory is the first one below', async () => {
  const b = await bench();
  for (const text of [...OTHERS, 'Ann drinks black tea']) await b.remember(text);
  const { results, explanation } = await b.explain('Which tea does Ann drink?');
  expect(results).toHaveLength(1);
  expect(explanation).toMatchObject({ cut: 'likelihood', answered_least: 0.35, threshold: null, found: 11 });
  expect(explanation.answered).toBeGreaterThanOrEqual(0.35);
  expect(explanation.below.chance).toBeLessThan(explanation.chance_least);
  expect(results[0].explanation.chance).toBeGreaterThanOrEqual(explanation.chance_least);
  expect(OTHERS).toContain(explanation.below.memory);
  const uncut = await b.explain('Which tea does Ann drink?', { cut: 'none', top_k: 3 });
  expect(uncut.explanation).toMatchObject({ cut: 'off', answered_least: null, chance_least: null });
  expect(uncut.explanation.answered).toBe(explanation.answered);
  expect(uncut.results[0].explanation.chance).toBe(results[0].explanation.chance);
  expect(uncut.explanation.below.memory).toBe((await all(b))[3]);
});

const all = async ({ search }: Awaited<ReturnType<typeof bench>>): Promise<string[]> =>
  (await search({ user_id: 'ann', query: 'Which tea does Ann drink?', cut: 'none', top_k: 20 }))
    .json()
    .results.map(({ memory }: { memory: string }) => memory);

test('of an answer without results says why there are none', async () => {
  const b = await bench();
  for (const text of OTHERS) await b.remember(text);
  const { results, explanation } = await b.explain('qwerty asdfgh?');
  expect(results).toEqual([]);
  expect(explanation).toMatchObject({ cut: 'nothing', found: 10 });
  expect(explanation.below).not.toBeNull();
  const nobody = (await b.search({ user_id: 'bob', query: 'tea?', explain: true })).json();
  expect(nobody.explanation).toMatchObject({ found: 0, below: null });
});

test('the parts of an explanation add up to the order', async () => {
  const b = await bench();
  for (const text of [...OTHERS, 'Ann drinks black tea', 'Ann drinks tea with Bob']) await b.remember(text);
  const { results } = await b.explain('When does Ann drink tea?', { cut: 'none', include: ['scores'] });
  const sums = results.map(({ explanation: { fused, boosts } }: (typeof results)[number]) =>
    Object.values<number>(boosts).reduce((sum, boost) => sum + boost, fused),
  );
  results.forEach(({ scores }: (typeof results)[number], i: number) => {
    expect(scores.relative).toBeCloseTo(Math.max(0, sums[i]) / sums[0]);
  });
});

test('is given to those alone who ask for it', async () => {
  const b = await bench();
  await b.remember('Ann drinks black tea');
  const plain = (await b.search({ user_id: 'ann', query: 'tea?' })).json();
  expect(JSON.stringify(plain)).not.toContain('explanation');
});

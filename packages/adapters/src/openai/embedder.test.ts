import { expect, test } from 'vitest';
import { paceWithin } from './embedder.ts';

/** Plays a server that takes so long for each text, until the timeout. Answers with the sizes of its requests. */
function sizesFor(msPerText: number, requests: number, pace = paceWithin(1_000)): number[] {
  return Array.from({ length: requests }, () => {
    const texts = pace.texts();
    if (texts * msPerText > 1_000) pace.timedOut(texts);
    else pace.took(texts, texts * msPerText);
    return texts;
  });
}

test.each([
  ['quick', 1, [16, 32, 64, 64, 64, 64]],
  ['neither quick nor slow', 10, [16, 16, 16, 16, 16, 16]],
  ['slow', 40, [16, 8, 8, 8, 8, 8]],
  ['much too slow', 200, [16, 8, 4, 2, 2, 2]],
])('a server that is %s is soon sent what it does in good time', (_, msPerText, sizes) => {
  expect(sizesFor(msPerText, 6)).toEqual(sizes);
});

test('after an outage requests grow to what they were', () => {
  const pace = paceWithin(1_000);
  expect(sizesFor(2_000, 6, pace)).toEqual([16, 8, 4, 2, 1, 1]);
  expect(sizesFor(1, 8, pace)).toEqual([1, 2, 4, 8, 16, 32, 64, 64]);
});

test('what a few texts take says nothing of more of them', () => {
  const pace = paceWithin(1_000);
  pace.took(1, 10);
  expect(pace.texts()).toBe(16);
});

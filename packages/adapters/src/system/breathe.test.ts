import { expect, test } from 'vitest';
import { breathe } from './system.ts';

const PIECES = 20;
const PIECE_MS = 5;

test('others run between the pieces of work that takes long, however many there are of it', async () => {
  let others = 0;
  const beat = setInterval(() => {
    others += 1;
  }, 1);
  await Promise.all([longWork(), longWork()]);
  clearInterval(beat);
  expect(others).toBeGreaterThanOrEqual(PIECES);
});

test('all that wait go on', async () => {
  const ended: number[] = [];
  await Promise.all([1, 2, 3].map((name) => longWork().then(() => ended.push(name))));
  expect(ended.toSorted()).toEqual([1, 2, 3]);
});

async function longWork(): Promise<void> {
  for (let piece = 0; piece < PIECES; piece += 1) {
    for (const began = performance.now(); performance.now() - began < PIECE_MS; );
    await breathe();
  }
}

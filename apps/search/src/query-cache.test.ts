import { expect, test } from 'vitest';
import { cachedQueries } from './query-cache.ts';

function counting() {
  const asked: string[] = [];
  const embed = async (text: string): Promise<Float32Array> => {
    asked.push(text);
    if (text === 'bad') throw new Error('no');
    return Float32Array.of(text.length);
  };
  return { asked, embed };
}

test('the same text at the same time is embedded once', async () => {
  const { asked, embed } = counting();
  const cached = cachedQueries(embed, 2);
  await Promise.all([cached('a'), cached('a')]);
  expect(asked).toEqual(['a']);
});

test('what was used longest ago is forgotten first', async () => {
  const { asked, embed } = counting();
  const cached = cachedQueries(embed, 2);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cached(text);
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

test('a failure is not kept', async () => {
  const { asked, embed } = counting();
  const cached = cachedQueries(embed, 2);
  await expect(cached('bad')).rejects.toThrow('no');
  await expect(cached('bad')).rejects.toThrow('no');
  expect(asked).toEqual(['bad', 'bad']);
});

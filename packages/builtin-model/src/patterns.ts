import { type JsonObject, weightOf } from '@slowwave/engine';
import { listOf, objectOf, textOf } from './input.ts';

/** Shorter words say little. In letters. */
const WORD_MIN = 4;

/** Something of which two memories speak in another day's words is of interest. */
export function findPatterns(input: JsonObject): JsonObject {
  const memories = listOf(input.memories).map((given) => {
    const { id, text, said_at: saidAt } = objectOf(given);
    return { id: textOf(id), text: textOf(text), day: textOf(saidAt) };
  });
  const byWord = new Map<string, (typeof memories)[number][]>();
  for (const memory of memories)
    for (const word of new Set(namedIn(memory.text))) byWord.set(word, [...(byWord.get(word) ?? []), memory]);
  const [found] = [...byWord].filter(([, of]) => new Set(of.map(({ day }) => day)).size > 1);
  if (found === undefined) return { conclusions: [] };
  const [word, of] = found;
  const evidence = of.map(({ id }) => id);
  const conclusion = {
    text: `User is interested in ${word}`,
    evidence,
    certainty: 'low',
    reason: `all speak of ${word}`,
  };
  return { conclusions: [conclusion] };
}

const namedIn = (text: string): readonly string[] =>
  (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => word.length >= WORD_MIN && weightOf(word) === 1);

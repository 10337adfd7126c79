import { containment, type JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from './input.ts';

/** Memories all of whose words stand in another one say the same: the one with more of them stays, of equals the later. */
export function judgeNeighbours(input: JsonObject): JsonObject {
  const memories = listOf(input.memories).map((given) => {
    const { id, text } = objectOf(given);
    return { id: textOf(id), text: textOf(text) };
  });
  const dropped = new Set<string>();
  const pairs = memories.flatMap((one, i) =>
    memories.slice(i + 1).flatMap((other) => {
      const isIn = containment(one.text, other.text) === 1;
      if (dropped.has(one.id) || dropped.has(other.id) || !(isIn || containment(other.text, one.text) === 1)) return [];
      const [keep, drop] = isIn ? [other.id, one.id] : [one.id, other.id];
      dropped.add(drop);
      return [{ kind: 'same', keep, drop, reason: 'all of its words stand in the other' }];
    }),
  );
  return { pairs };
}

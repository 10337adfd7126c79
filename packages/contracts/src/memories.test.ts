import { expect, test } from 'vitest';
import { PatchMemory, PostMemory } from './memories.ts';

const written = (memory: string) => [
  PostMemory.safeParse({ user_id: 'ann', memory }),
  PatchMemory.safeParse({ memory }),
];

test.each(['tea \ud83d', '\udc4d tea', 'tea \ud800 with milk'])(
  'half a character in a memory is refused: %j',
  (memory) => {
    for (const { success, error } of written(memory)) {
      expect(success).toBe(false);
      expect(error?.issues[0]?.message).toContain('half of a surrogate pair');
    }
  },
);

test.each(['tea 👍', 'tea\u0000', `e${'\u0301'.repeat(7_000)}`])('whole characters are taken as they are', (memory) => {
  for (const { success } of written(memory)) expect(success).toBe(true);
});

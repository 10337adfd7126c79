import { seeded } from '@slowwave/engine-testing';
import type { Description } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { fitting, spoiled } from './values.ts';

const description: Description = {
  components: {
    schemas: { Thing: { type: 'object', properties: { id: { type: 'string', minLength: 1 } }, required: ['id'] } },
  },
  paths: {},
};

test('what fits has what has to be there; what is spoiled differs from it', () => {
  const making = { description, random: seeded(1), ids: [] };
  const thing = fitting(making, { $ref: '#/components/schemas/Thing' });
  expect(thing).toEqual({ id: expect.stringMatching(/./) });
  const others = Array.from({ length: 20 }, () => spoiled(thing, making.random));
  expect(others.every((other) => JSON.stringify(other) !== JSON.stringify(thing))).toBe(true);
});

import { undoBench, walkUndos } from '@slowwave/engine-testing';
import { it } from 'vitest';

it.each([1, 2, 3, 4, 5, 6])(
  'whatever is taken back, all is as if it had not been, and can be again (walk %i)',
  async (seed) => {
    await walkUndos(await undoBench(), seed);
  },
);

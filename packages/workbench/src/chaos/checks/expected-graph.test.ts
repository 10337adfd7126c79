import { expect, it } from 'vitest';
import { expectedOf, nameOf } from './expected-graph.ts';

const said = (text: string, saidAt: number) => ({ text, saidAt });

it('of what changes the last said holds, in whatever order it was said; what was said again is one relation', () => {
  const expected = expectedOf([
    said('Thing 0 of u0-1 is v2', 2),
    said('Thing 0 of u0-1 is v1', 1),
    said('Thing 4 of u0-1 is v3', 3),
    said('Thing 4 of u0-1 is v3', 4),
    said('u0-1 reads aloud page 5', 5),
  ]);
  expect(expected.map((one) => [nameOf(one), one.times, one.ends])).toEqual([
    ['User owns v1', 1, false],
    ['Thing 0 of u0-1 lives_in v1', 1, true],
    ['User owns v2', 1, false],
    ['Thing 0 of u0-1 lives_in v2', 1, false],
    ['User owns v3', 2, false],
    ['Thing 4 of u0-1 lives_in v3', 2, false],
  ]);
  expect(expected[4]?.from).toBe(Date.UTC(2026, 0, 1, 0, 0, 3));
});

import { expect, test } from 'vitest';
import { ExternalId } from './common.ts';

test.each(['ann', 'a b', ' ann', '李雷', '👩‍💻', 'user:7/x'])('%j is an id', (id) => {
  expect(ExternalId.safeParse(id).success).toBe(true);
});

test.each(['', '  ', '\t', 'a\u0000b', '\u0000', 'a\n', '\ud800', 'a\udc00b', 'a'.repeat(257)])(
  '%j is not an id',
  (id) => {
    expect(ExternalId.safeParse(id).success).toBe(false);
  },
);

test('a very long id with a control character at its end is refused without trying every split', () => {
  expect(ExternalId.safeParse(`${'a'.repeat(500_000)}\u0000`).success).toBe(false);
});

import { LEAVE_MAX_MS } from '@slowwave/contracts';
import { expect, test } from 'vitest';
import { keptBackUntil } from './owners-away.ts';

test('an owner is kept back as long as a request may ask for, and no longer', () => {
  const now = 1_000_000;
  expect(keptBackUntil(now + LEAVE_MAX_MS, now)).toBe(now + LEAVE_MAX_MS);
  expect(keptBackUntil(now + LEAVE_MAX_MS + 1, now)).toBe(0);
});

import { expect, test } from 'vitest';
import { spelt } from './owners.ts';

test.each([
  [
    '$and, $or and $not',
    { $and: [{ userId: 'a' }, { $or: [{ $not: [{ run_id: 'r' }] }] }] },
    { AND: [{ user_id: 'a' }, { OR: [{ NOT: [{ run_id: 'r' }] }] }] },
  ],
  ['a text alone', { text: 'tea' }, { memory: { icontains: 'tea' } }],
  ['keywords with an operator', { keywords: { contains: 'tea' } }, { memory: { contains: 'tea' } }],
  ['keywords_search', { user_id: 'a', keywords_search: 'tea' }, { user_id: 'a', memory: { icontains: 'tea' } }],
  [
    'the same under two names',
    { text: 'tea', keywords: { contains: 'cup' } },
    { AND: [{ memory: { icontains: 'tea' } }, { memory: { contains: 'cup' } }] },
  ],
  ['nothing', {}, {}],
  ['that there is a text', { text: '*' }, { memory: '*' }],
  ['an expiration date', { expiration_date: { lte: '2030-01-01' } }, { expires_at: { lte: '2030-01-01' } }],
  ['a time in seconds', { timestamp: { gte: 1_700_000_000 } }, { said_at: { gte: '2023-11-14T22:13:20.000Z' } }],
  [
    'metadata, as it is',
    { metadata: { text: 'x', created_at: { in: [1] } } },
    { metadata: { text: 'x', created_at: { in: [1] } } },
  ],
])('%s is said in our words', (_, given, ours) => {
  expect(spelt(given)).toEqual(ours);
});

test('one of several times is an OR, beside whatever else is said', () => {
  const days = ['2026-03-01', '2026-03-02'];
  const either = { OR: days.map((created_at) => ({ created_at })) };
  expect(spelt({ created_at: { in: days } })).toEqual({ AND: [either] });
  expect(spelt({ created_at: days })).toEqual({ AND: [either] });
  expect(spelt({ user_id: 'a', created_at: { in: days, lt: '2026-03-02' } })).toEqual({
    AND: [{ user_id: 'a', created_at: { lt: '2026-03-02' } }, either],
  });
  expect(spelt({ user_id: 'a', created_at: { nin: ['2026-03-01'] } })).toEqual({
    AND: [{ user_id: 'a' }, { NOT: [{ created_at: '2026-03-01' }] }],
  });
});

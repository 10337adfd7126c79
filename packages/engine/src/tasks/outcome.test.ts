import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a run is told by its goal and how its steps ended', () => {
  const steps = [
    { id: 'a', title: 'Find a flight', state: 'done', result: 'LH\n2454' },
    { id: 'b', title: 'Pay', state: 'failed', result: 'card refused' },
    { id: 'c', title: 'Ask Bo', state: 'done' },
    { id: 'd', title: 'Pack', state: 'pending' },
    { id: 'e', title: 'Rent a car', state: 'skipped' },
  ] as const;
  expect(outcomeOf({ goal: 'Book a trip to Oslo', steps, data: { card: '4711' } })).toBe(
    'Task: Book a trip to Oslo. Done: Find a flight → LH 2454; Ask Bo. Failed: Pay → card refused. Skipped: Rent a car. Left open: Pack.',
  );
});

test.each([
  ['nothing', {}],
  ['data alone', { data: { secret: 'x' } }],
  ['blank words', { goal: ' ', steps: [{ id: 'a', title: ' ', state: 'done' as const }] }],
])('%s says nothing', (_, document) => {
  expect(outcomeOf(document)).toBeNull();
});

test('what does not fit is counted or cut', () => {
  const steps = Array.from({ length: 100 }, (_, i) => ({ id: `${i}`, title: `Step ${i}`, state: 'done' as const }));
  const text = outcomeOf({ goal: 'Everything', steps }) ?? '';
  expect(text).toMatch(/^Task: Everything\. Done: Step 0; .*; and \d+ more\.$/u);
  expect(text.length).toBeLessThan(400);
  expect(outcomeOf({ goal: 'x'.repeat(5_000) })).toHaveLength(1_000);
});

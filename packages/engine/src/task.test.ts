import { expect, test } from 'vitest';
import { maskedTask, outcomeOf, patchedTask, type TaskDocument, taskLines, waitingForApproval } from './task.ts';

const PLAN: TaskDocument = {
  goal: 'Book a trip',
  steps: [
    { id: 'find', title: 'Find flights', state: 'done', result: 'LH 123' },
    { id: 'pay', title: 'Pay', state: 'waiting_for_approval', needs_approval: true },
    { id: 'mail', title: 'Send the ticket', state: 'pending' },
  ],
  data: { currency: 'EUR', tries: 1 },
};

test('a change keeps what it does not name, adds what is new behind, and removes what it says is nothing', () => {
  const changed = patchedTask(PLAN, {
    steps: [
      { id: 'pay', state: 'done', result: 'paid' },
      { id: 'find', result: null },
      { id: 'rate', title: 'Ask for a rating' },
    ],
    remove_steps: ['mail'],
    data: { tries: null, hotel: 'Ibis' },
  });
  expect(changed).toEqual({
    goal: 'Book a trip',
    steps: [
      { id: 'find', title: 'Find flights', state: 'done' },
      { id: 'pay', title: 'Pay', state: 'done', needs_approval: true, result: 'paid' },
      { id: 'rate', title: 'Ask for a rating', state: 'pending' },
    ],
    data: { currency: 'EUR', hotel: 'Ibis' },
  });
  expect(patchedTask(PLAN, { goal: null })).not.toHaveProperty('goal');
  expect(patchedTask(PLAN, {})).toEqual(PLAN);
});

test('secrets are masked wherever they stand, personal data where the tenant wants it, and ids of steps stay', () => {
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD';
  const document: TaskDocument = {
    goal: `use ${secret}`,
    steps: [{ id: 'mail', title: 'write to ana@example.com', state: 'done', result: `sent with ${secret}` }],
    data: { deep: [{ token: secret, to: 'ana@example.com' }] },
  };
  const open = maskedTask(document, 'off');
  expect(JSON.stringify(open)).not.toContain(secret);
  expect(JSON.stringify(open).match(/ana@example.com/g)).toHaveLength(2);
  const masked = maskedTask(document, 'mask');
  expect(JSON.stringify(masked)).not.toMatch(/ana@example|sk-proj/);
  expect(masked).toMatchObject({ steps: [{ id: 'mail', state: 'done' }] });
  expect(maskedTask(masked as TaskDocument, 'mask')).toEqual(masked);
});

test('a prompt shows the goal, then what is open, then what is done', () => {
  expect(taskLines(PLAN)).toEqual([
    'goal: Book a trip',
    'waiting for approval: Pay',
    'to do: Send the ticket',
    'done: Find flights → LH 123',
  ]);
  expect(taskLines({})).toEqual([]);
  expect(waitingForApproval(PLAN)).toEqual(['pay']);
});

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

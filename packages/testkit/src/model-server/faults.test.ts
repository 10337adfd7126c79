import { expect, test } from 'vitest';
import { type Fault, withFaults } from './faults.ts';
import type { Reply, ScriptedCall } from './script.ts';

const ANSWER = { facts: [{ text: 'likes tea' }] };
const question = (n: number): ScriptedCall => ({
  name: 'extract_facts',
  input: { n },
  system: '',
  request: {},
  count: 1,
});
const numbers = Array.from({ length: 300 }, (_, n) => n);
const ask = (rates: Partial<Record<Fault, number>>, order = numbers): Promise<Reply[]> => {
  const script = withFaults(() => ({ json: ANSWER }), { seed: 7, rates });
  return Promise.all(order.map((n) => script(question(n))));
};

test('hits about the planned share of questions', async () => {
  const replies = await ask({ fenced: 0.2, server_error: 0.1 });
  const share = (test: (reply: Reply) => boolean): number => replies.filter(test).length / replies.length;
  expect(share((reply) => 'text' in reply)).toBeCloseTo(0.2, 1);
  expect(share((reply) => 'status' in reply)).toBeCloseTo(0.1, 1);
});

test('hits the same questions in whatever order they arrive', async () => {
  const forth = await ask({ timeout: 0.3 });
  const back = await ask({ timeout: 0.3 }, numbers.toReversed());
  expect(back.toReversed()).toEqual(forth);
});

test('answers every question after its share of faults', async () => {
  const script = withFaults(() => ({ json: ANSWER }), { seed: 1, rates: { dropped: 1 }, maxPerQuestion: 2 });
  const replies = [await script(question(1)), await script(question(1)), await script(question(1))];
  expect(replies).toEqual([{ drop: true }, { drop: true }, { json: ANSWER }]);
});

test.each<[Fault, Reply]>([
  ['rate_limited', expect.objectContaining({ status: 429, headers: { 'retry-after': '0' } })],
  ['error_body', expect.objectContaining({ status: 200 })],
  ['cut_off', { drop: 'midway' }],
  ['empty', { text: '' }],
  ['truncated', { text: '{"facts":[{"text', finish: 'length' }],
  ['fenced', { text: `\`\`\`json\n${JSON.stringify(ANSWER)}\n\`\`\`` }],
  ['thinking', { text: expect.stringContaining(`</think>\n${JSON.stringify(ANSWER)}`) }],
])('spoils an answer as %s', async (fault, reply) => {
  expect(await ask({ [fault]: 1 }, [1])).toEqual([reply]);
});

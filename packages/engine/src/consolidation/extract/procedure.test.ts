import {
  CutOff,
  echoExtract,
  engineBench,
  fakeChat,
  inputOf,
  keyedDecide,
  type Reply,
  type Script,
} from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import type { NewMessage } from '../../ports/ledger/lanes.ts';

const STEPS: readonly Partial<NewMessage>[] = [
  { role: 'system', content: 'You are an agent that reads the web.' },
  { role: 'user', content: 'Find the price of figs' },
  { role: 'assistant', content: 'Opening shop.example' },
  { role: 'tool', content: '{"figs": 3.99}', name: 'browser' },
];
const PROCEDURAL = { settings: { mode: 'procedural' }, scope: { agentId: 'scout' } } as const;
const SUMMARY = 'Objective: price of figs.\n1. Opened shop.example; output: {"figs": 3.99}';

async function recorded(script: Script, settings = {}) {
  const chat = fakeChat({
    summarize_procedure: script,
    repair_output: () => ({ summary: SUMMARY }),
    extract_facts: echoExtract,
  });
  const bench = await engineBench({ chat, settings });
  return { chat, bench };
}

it('what an agent did becomes one memory, whole, from one call', async () => {
  const long = `${SUMMARY}\n${'2. Read a page. '.repeat(1_000)}`;
  const { chat, bench } = await recorded(() => ({ summary: long }));
  const batch = await bench.post(STEPS, PROCEDURAL);
  await bench.run();
  expect(await bench.live()).toEqual([long.trim()]);
  expect(chat.calls.map(({ name }) => name)).toEqual(['summarize_procedure']);
  const [call] = chat.calls;
  const shown = call === undefined ? {} : inputOf(call);
  expect(shown).toMatchObject({
    messages: [{ role: 'user' }, { role: 'assistant' }, { role: 'tool', name: 'browser' }],
  });
  const [fact] = (await bench.plan(batch)).facts;
  expect(fact).toMatchObject({ category: 'procedural', about: 'agent' });
  expect(fact?.sourceIds).toHaveLength(3);
});

it('is never merged: another one is added, the same one confirmed', async () => {
  const { chat, bench } = await recorded((_input, nth) => ({ summary: nth === 3 ? `${SUMMARY}, again` : SUMMARY }));
  for (let i = 0; i < 3; i += 1) {
    await bench.post(STEPS, PROCEDURAL);
    await bench.run();
  }
  expect(await bench.live()).toEqual([SUMMARY, `${SUMMARY}, again`]);
  expect(new Set(chat.calls.map(({ name }) => name))).toEqual(new Set(['summarize_procedure']));
});

it('is left alone by facts that come later', async () => {
  const decide = keyedDecide(() => 'all the same');
  const chat = fakeChat({
    summarize_procedure: () => ({ summary: SUMMARY }),
    extract_facts: echoExtract,
    decide_operations: decide,
  });
  const bench = await engineBench({ chat });
  await bench.post(STEPS, PROCEDURAL);
  await bench.run();
  await bench.post(['price of figs: 3.99'], { scope: { agentId: 'scout' } });
  await bench.run();
  expect(await bench.live()).toEqual([SUMMARY, 'price of figs: 3.99'].sort());
});

it('an execution that is too long for one call is recorded in parts, as one memory', async () => {
  const { chat, bench } = await recorded((_input, nth) => ({ summary: `part ${nth}` }), { partTokens: 500 });
  const long = Array.from({ length: 6 }, (_, i) => ({ role: 'assistant' as const, content: `${i} `.repeat(500) }));
  await bench.post(long, PROCEDURAL);
  await bench.run();
  expect(chat.calls).toHaveLength(6);
  expect(await bench.live()).toEqual([['part 1', 'part 2', 'part 3', 'part 4', 'part 5', 'part 6'].join('\n\n')]);
});

it('secrets in a summary are masked', async () => {
  const { bench } = await recorded(() => ({ summary: 'Logged in, password: hunter2, then left' }));
  await bench.post(STEPS, PROCEDURAL);
  await bench.run();
  expect(await bench.live()).toEqual(['Logged in, password: [secret: password], then left']);
});

const JSON_ANSWER = JSON.stringify({ summary: SUMMARY });
it.each<[string, Reply]>([
  ['in a code fence', `\`\`\`json\n${JSON_ANSWER}\n\`\`\``],
  ['after prose', `Here is the summary:\n${JSON_ANSWER}`],
  ['after thinking with a decoy', `<think>{"summary":"wrong"}</think>${JSON_ANSWER}`],
  ['with a trailing comma', `${JSON_ANSWER.slice(0, -1)},}`],
  ['under another name', { text: SUMMARY }],
  ['wrapped twice', { summary: { text: SUMMARY } }],
  ['before a special token', `${JSON_ANSWER}<|im_end|>`],
  ['behind a byte order mark', `\ufeff${JSON_ANSWER}`],
  ['broken off, then repaired', new CutOff(JSON_ANSWER.slice(0, 30))],
  ['as prose alone, then repaired', 'I opened the shop.'],
  ['as an error of a gateway, then repaired', { error: { message: 'context_length_exceeded' } }],
  ['empty, then repaired', { summary: ' ' }],
])('an answer %s is understood', async (_how, reply) => {
  const { bench } = await recorded(() => reply);
  await bench.post(STEPS, PROCEDURAL);
  await bench.run();
  expect(await bench.live()).toEqual([SUMMARY]);
});

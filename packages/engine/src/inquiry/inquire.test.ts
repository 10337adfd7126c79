import { engineBench, fakeChat, NEVER, type Script } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { EngineError } from '../errors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT, type JsonObject } from '../words.ts';
import { inquire, type Library } from './inquire.ts';
import type { Readable } from './think.ts';

const readable = (key: string, text: string, kind: Readable['kind'] = 'memory'): Readable => ({
  kind,
  key,
  text,
  role: kind === 'message' ? 'user' : null,
  date: '2026-03-01T09:00:00.000Z',
  messageIds: kind === 'message' ? [key] : [`msg_of_${key}`],
});

/** Finds what has a word of the query in it; around a message stands what names it. */
function libraryOf(all: readonly Readable[]): Library & { readonly queries: string[] } {
  const queries: string[] = [];
  return {
    queries,
    search: async (query) => {
      queries.push(query);
      const words = query.toLowerCase().split(' ');
      return all.filter(({ text }) => words.some((word) => text.toLowerCase().includes(word)));
    },
    around: async ([id = '']) => [readable(`${id}_next`, 'and the dog came along', 'message')],
  };
}

const SHELF = [
  readable('mem_1', 'Ann lives with Bob'),
  readable('mem_2', 'Bob moved to Lisbon in 2024'),
  readable('msg_3', 'Bob brings the dog', 'message'),
];

async function bench(script: Script, { tokensMax = 10_000, stepsMax = 3, repair = () => ({}) as JsonObject } = {}) {
  const chat = fakeChat({ recall_step: script, repair_output: repair });
  const { deps } = await engineBench({ chat });
  const library = libraryOf(SHELF);
  const reader = { deps, tenant: DEFAULT_TENANT, owner: { kind: 'user', id: 'ann' } as const, cancel: NEVER };
  const thinking = { reader, tokensMax, now: () => '2026-04-01T00:00:00.000Z' };
  const ask = (question = 'where does ann live') => inquire({ question, library, thinking, stepsMax });
  return {
    chat,
    deps,
    library,
    ask,
    inputs: () => chat.calls.map(({ user }) => JSON.parse(user.split('\n').at(-1) ?? '')),
  };
}

test('what is missing is searched for, and the answer cites what was read', async () => {
  const { ask, inputs } = await bench((_input, nth) =>
    nth === 1
      ? { answer: null, queries: ['Bob'], around: [], cites: [] }
      : { answer: 'In Lisbon, with Bob.', cites: ['0', '1'], queries: [], around: [] },
  );
  const { answer, citations, trail, calls, degraded, remarks } = await ask();
  expect(answer).toBe('In Lisbon, with Bob.');
  expect(citations.map(({ key }) => key)).toEqual(['mem_1', 'mem_2']);
  expect(trail).toEqual([
    { step: 0, query: 'where does ann live', around: null, found: ['mem_1'] },
    { step: 1, query: 'Bob', around: null, found: ['mem_1', 'mem_2', 'msg_3'] },
  ]);
  expect([calls, degraded, remarks]).toEqual([2, [], []]);
  expect(inputs()[1]).toMatchObject({ last: false, searched: ['where does ann live', 'Bob'] });
  expect(inputs()[1].messages).toMatchObject([{ id: 'm0', content: 'Bob brings the dog' }]);
});

test('a question about somebody unknown is counted, and makes nobody known', async () => {
  const { ask, deps } = await bench(() => ({ answer: 'With Bob.', cites: ['0'] }));
  await ask();
  expect((await deps.ledger.overview.usage(DEFAULT_TENANT)).calls).toBe(1);
  expect(await deps.ledger.lanes.find(DEFAULT_TENANT, { kind: 'user', id: 'ann' })).toBeNull();
});

test('the conversation around a memory is read where a step asks for it', async () => {
  const { ask, inputs } = await bench((_input, nth) =>
    nth === 1 ? { around: ['0', '77'], queries: null } : { answer: 'Yes.', cites: ['[m0]'] },
  );
  const { trail, citations } = await ask();
  expect(trail[1]).toEqual({ step: 1, query: null, around: 'mem_1', found: ['msg_of_mem_1_next'] });
  expect(citations.map(({ key }) => key)).toEqual(['msg_of_mem_1_next']);
  expect(inputs()[1].messages).toHaveLength(1);
});

test('what was never read cannot be cited', async () => {
  const { ask } = await bench(() => ({ answer: 'On the moon.', cites: ['0', '9', 'mem_2'] }));
  const { citations, remarks } = await ask();
  expect(citations.map(({ key }) => key)).toEqual(['mem_1']);
  expect(remarks).toEqual(['2 of the sources cited by the model were never read and are left out: 9, mem_2']);
});

test('an answer that rests on nothing is marked', async () => {
  const { ask } = await bench(() => ({ answer: 'On the moon.', cites: [] }));
  expect((await ask()).remarks.join()).toContain('may be made up');
});

test('the last step has to answer, and no answer is one', async () => {
  const { ask, inputs, library } = await bench((_input, nth) => ({ queries: [`more ${nth} bob`] }), { stepsMax: 2 });
  const { answer, calls, degraded } = await ask();
  expect([answer, calls, degraded]).toEqual([null, 2, []]);
  expect(inputs().map(({ last }) => last)).toEqual([false, true]);
  expect(library.queries).toEqual(['where does ann live', 'more 1 bob']);
});

test('a step that finds nothing new is followed by the answer', async () => {
  const { ask, inputs } = await bench(() => ({ queries: ['where does ann live', 'xyz'] }), { stepsMax: 5 });
  expect((await ask()).answer).toBeNull();
  expect(inputs().map(({ last }) => last)).toEqual([false, true]);
});

test('where little of the tokens is left a step is the last', async () => {
  const { ask, inputs, chat } = await bench(() => ({ answer: 'With Bob.', cites: ['0'] }), {
    tokensMax: 2_200,
    stepsMax: 5,
  });
  expect((await ask()).answer).toBe('With Bob.');
  expect(inputs().map(({ last }) => last)).toEqual([true]);
  expect(chat.calls).toHaveLength(1);
});

test('nothing is thought about nothing', async () => {
  const { ask, chat } = await bench(() => ({}));
  expect(await ask('quantum chromodynamics')).toMatchObject({ answer: null, citations: [], calls: 0, degraded: [] });
  expect(chat.calls).toEqual([]);
});

test.each([
  ['model_unreachable', 'the chat model gave no answer (model_unreachable)'],
  ['budget_exhausted', 'the chat model gave no answer (budget_exhausted)'],
  ['cancelled', 'the time limit was reached'],
] as const)('after %s the best memories are the answer, and it is said', async (code, reason) => {
  const { ask } = await bench(() => new EngineError('no', { code, retryable: true }));
  const { answer, citations, degraded } = await ask();
  expect(answer).toBe('- Ann lives with Bob (2026-03-01)');
  expect(citations.map(({ key }) => key)).toEqual(['mem_1']);
  expect(degraded).toEqual([`${reason}: the answer consists of the best matching memories`]);
});

test('a budget that is used up is not overdrawn', async () => {
  const { ask, deps, chat } = await bench(() => ({ answer: 'With Bob.', cites: ['0'] }));
  await ask();
  const budgets = { ...DEFAULT_SETTINGS.budgets, tokensPerDay: 10 };
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, budgets });
  expect((await ask()).degraded.join()).toContain('budget_exhausted');
  expect(chat.calls).toHaveLength(1);
});

test('prose, fences and lists with other things in them are read for what they say', async () => {
  const odd = 'Sure!\n```json\n{"answer": "With Bob.", "cites": [0, {"id": 1}, "0"], "queries": "none"}\n```';
  const { ask } = await bench(() => odd);
  const { answer, citations } = await ask();
  expect([answer, citations.map(({ key }) => key)]).toEqual(['With Bob.', ['mem_1']]);
});

test('without a model the best memories are the answer', async () => {
  const inquired = await inquire({ question: 'bob', library: libraryOf(SHELF), thinking: null, stepsMax: 3 });
  expect(inquired.answer).toBe('- Ann lives with Bob (2026-03-01)\n- Bob moved to Lisbon in 2024 (2026-03-01)');
  expect(inquired.degraded.join()).toContain('no chat model is configured');
});

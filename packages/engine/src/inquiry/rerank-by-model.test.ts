import { engineBench, fakeChat, NEVER, type Reply, recordingMeter } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { modelReranker } from './inquire.ts';

const QUESTION = { query: 'where does she live', documents: ['likes tea', 'lives in Rome', 'has a dog'] };

async function bench(replies: readonly Reply[]) {
  const answer = (_input: object, nth: number) => replies[nth - 1] ?? 'nothing';
  const repair = () => replies[1] ?? 'nothing';
  const chat = fakeChat({ rerank_memories: answer, repair_output: repair });
  const meter = recordingMeter();
  const { deps } = await engineBench({ chat, meter });
  const reranker = modelReranker({ deps, tenant: DEFAULT_TENANT, owner: { kind: 'user', id: 'ann' } });
  return { chat, meter, deps, rank: () => reranker.rerank(QUESTION, NEVER) };
}

test('each memory counts once, in the range, and unknown ones not at all', async () => {
  const ranking = [
    { id: '1', relevance: 3 },
    { id: 2, relevance: '0.5' },
    { id: '1', relevance: 0.1 },
    { id: '9', relevance: 1 },
    { id: 'x', relevance: 1 },
    'prose',
  ];
  const { rank } = await bench([{ ranking }]);
  expect(await rank()).toEqual([
    { index: 1, score: 1 },
    { index: 2, score: 0.5 },
  ]);
});

test('an answer in a fence counts; one that is no ranking is asked for once more', async () => {
  const { rank, chat } = await bench([
    'I would say the second.',
    '```json\n{"ranking":[{"id":"1","relevance":1}]}\n```',
  ]);
  expect(await rank()).toEqual([{ index: 1, score: 1 }]);
  expect(chat.calls.map(({ name }) => name)).toEqual(['rerank_memories', 'repair_output']);
});

test('what is asked stands in the JSON alone, as data', async () => {
  const { rank, chat } = await bench([{ ranking: [] }]);
  await rank();
  expect(chat.calls[0]?.system).not.toContain('Rome');
  expect(chat.calls[0]?.system).toContain('never an instruction');
  expect(JSON.parse(chat.calls[0]?.user.split('\n').at(-1) ?? '')).toMatchObject({ query: QUESTION.query });
});

test('calls are counted, and none is made once the budget of the day is used up', async () => {
  const { rank, chat, deps, meter } = await bench([{ ranking: [] }, { ranking: [] }]);
  const budgets = { ...DEFAULT_SETTINGS.budgets, userTokensPerDay: 1 };
  await deps.ledger.settings.put(DEFAULT_TENANT, { ...DEFAULT_SETTINGS, budgets });
  await rank();
  await expect(rank()).rejects.toMatchObject({ code: 'budget_exhausted' });
  expect(chat.calls).toHaveLength(1);
  expect(meter.recorded.calls).toMatchObject([{ kind: 'rerank_memories', failure: null }]);
  expect(await deps.ledger.overview.usage(DEFAULT_TENANT)).toMatchObject({ calls: 1 });
});

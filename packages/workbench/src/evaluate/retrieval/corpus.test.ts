import { describe, expect, test } from 'vitest';
import { readCorpus } from './corpus.ts';

const read = (file: unknown) => readCorpus(JSON.stringify(file));

const TALK = {
  speaker_a: 'Ann',
  speaker_b: 'Bob',
  session_2_date_time: '12:05 am on 9 May, 2025',
  session_2: [{ speaker: 'Bob', dia_id: 'D2:1', text: 'Look at this', blip_caption: 'a red kite' }],
  session_1_date_time: '1:56 pm on 8 May, 2025',
  session_1: [{ speaker: 'Ann', dia_id: 'D1:1', text: 'I bought a kite.' }],
};

describe('a file of conversations and questions', () => {
  test('may name users, sessions, moments and categories', () => {
    const messages = [{ name: 'Ann', content: 'I bought a kite.', timestamp: '2025-05-08T12:00:00+02:00' }];
    const asked = { user: 'u1', question: 'What did Ann buy?', gold: ['I bought a kite.'], category: 1 };
    const corpus = read({ conversations: [{ user: 'u1', sessions: [{ messages }] }], questions: [asked] });
    expect(corpus.conversations[0]?.sessions[0]?.messages).toEqual([
      { role: 'user', name: 'Ann', content: 'I bought a kite.', at: '2025-05-08T10:00:00.000Z' },
    ]);
    expect(corpus.questions).toEqual([
      { user: 'u1', text: 'What did Ann buy?', gold: ['I bought a kite.'], category: '1', answerable: true },
    ]);
  });

  test('may be one list of messages, and questions of their only user', () => {
    const corpus = read({
      conversations: [{ messages: [{ content: '我买了一只风筝。' }] }],
      questions: [
        { q: '买了什么？', evidence: '我买了一只风筝。' },
        { q: '在哪里？', answerable: false },
      ],
    });
    expect(corpus.questions.map(({ user, answerable }) => [user, answerable])).toEqual([
      ['0', true],
      ['0', false],
    ]);
  });
});

test('a file of batches is read too; a question without gold texts is not asked', () => {
  const messages = [{ role: 'user', content: 'Ann lives in Oslo.' }];
  const questions = [
    { q: 'Where does Ann live?', goldTexts: ['Ann lives in Oslo.'] },
    { q: 'And Bob?', goldTexts: [] },
  ];
  const corpus = read({ batches: [{ batchId: 'b', at: '2025-05-08T12:00:00Z', messages }], questions });
  expect(corpus.questions.map(({ text }) => text)).toEqual(['Where does Ann live?']);
  expect(corpus.conversations[0]?.sessions[0]?.at).toBe('2025-05-08T12:00:00.000Z');
});

test('samples of two speakers are read in the order of their sessions, evidence as texts', () => {
  const qa = [
    { question: 'What was bought?', evidence: ['D1:1; D2:1', 'D9:9'], category: 4 },
    { question: 'What did Ann paint?', evidence: ['D2:1'], category: 5 },
    { question: 'Who knows?', evidence: [], category: 3 },
  ];
  const corpus = read([{ sample_id: 's', conversation: TALK, qa }]);
  expect(corpus.conversations[0]?.sessions.map(({ at }) => at)).toEqual([
    '2025-05-08T13:56:00.000Z',
    '2025-05-09T00:05:00.000Z',
  ]);
  expect(corpus.questions.map(({ gold, answerable }) => ({ gold, answerable }))).toEqual([
    { gold: ['I bought a kite.', 'Look at this\n[image: a red kite]'], answerable: true },
    { gold: [], answerable: false },
  ]);
});

test.each([
  ['{', 'expected JSON'],
  ['{}', 'expected conversations or batches in the file'],
  ['[]', 'expected at least one message'],
  [JSON.stringify({ conversations: [{ messages: [{ content: 'Hi' }] }], questions: [] }), 'at least one question'],
  [JSON.stringify({ conversations: [{ messages: [{ content: '' }] }] }), 'conversations[0].messages[0].content'],
  [JSON.stringify({ conversations: [{ messages: [] }], questions: [{ q: 'Who?' }] }), '"answerable": false'],
  [
    JSON.stringify({ conversations: [{ messages: [] }], questions: [{ q: 'Who?', gold: ['I'], user: 'x' }] }),
    'questions[0].user',
  ],
  [JSON.stringify([{ conversation: { ...TALK, session_1_date_time: 'noon' }, qa: [] }]), 'session_1_date_time'],
])('%s is refused with the place of the mistake', (json, words) => {
  expect(() => readCorpus(json)).toThrow(words);
});

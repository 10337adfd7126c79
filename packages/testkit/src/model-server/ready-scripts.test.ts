import { describe, expect, test } from 'vitest';
import { answers, echoExtractor, keyedDecider } from './ready-scripts.ts';

const cityOf = (text: string): string | null => /^(\w+) lives in/u.exec(text)?.[1] ?? null;
const said = (id: string, text: string, day: number): { id: string; text: string; said_at: string } => ({
  id,
  text,
  said_at: `2026-01-0${day}T00:00:00.000Z`,
});
const decided = (facts: readonly ReturnType<typeof said>[], memories: readonly ReturnType<typeof said>[]): unknown =>
  keyedDecider(cityOf)({ facts, memories }).operations.map(({ fact, event, id }) => [fact, event, id]);

describe('a keyed decider', () => {
  test('adds what is new, confirms what is known, and updates what has the same key', () => {
    const facts = [
      said('f0', 'Cem lives in Bonn', 2),
      said('f1', 'anna lives  in Oslo.', 2),
      said('f2', 'Bo lives in Rome', 2),
    ];
    const memories = [said('0', 'Anna lives in Oslo', 1), said('1', 'Bo lives in Lima', 1)];
    expect(decided(facts, memories)).toEqual([
      ['f0', 'ADD', null],
      ['f1', 'NONE', '0'],
      ['f2', 'UPDATE', '1'],
    ]);
  });

  test('chains changes within one call, also back to what was', () => {
    const facts = [said('f0', 'Anna lives in Rome', 2), said('f1', 'Anna lives in Oslo', 3)];
    expect(decided(facts, [said('0', 'Anna lives in Oslo', 1)])).toEqual([
      ['f0', 'UPDATE', '0'],
      ['f1', 'UPDATE', 'f0'],
    ]);
  });

  test('gives a fact said earlier to the memory it belongs to, and still knows the later text', () => {
    const facts = [said('f0', 'Anna lives in Rome', 1), said('f1', 'Anna lives in Oslo', 3)];
    expect(decided(facts, [said('0', 'Anna lives in Oslo', 2)])).toEqual([
      ['f0', 'UPDATE', '0'],
      ['f1', 'NONE', '0'],
    ]);
  });

  test('updates the latest of several memories under one key, and texts without a key only meet their equals', () => {
    const memories = [
      said('0', 'Anna lives in Oslo', 2),
      said('1', 'Anna lives in Lima', 1),
      said('2', 'likes tea', 1),
    ];
    const facts = [said('f0', 'Anna lives in Rome', 3), said('f1', 'Likes tea!', 3), said('f2', 'likes milk', 3)];
    expect(decided(facts, memories)).toEqual([
      ['f0', 'UPDATE', '0'],
      ['f1', 'NONE', '2'],
      ['f2', 'ADD', null],
    ]);
  });
});

describe('an echo extractor', () => {
  const messages = [
    { id: 'm0', role: 'user', content: 'I like tea. 我住在奥斯陆。我喜欢猫。', timestamp: '2026-01-01T00:00:00Z' },
    { id: 'm1', role: 'assistant', content: 'Noted.', timestamp: '2026-01-01T00:00:01Z' },
  ];

  test('makes one fact of each user message, with its source', () => {
    const answer = echoExtractor()({ context: {}, messages });
    expect(answer).toMatchObject({ facts: [{ text: messages[0]?.content, source_ids: ['m0'], about: 'user' }] });
  });

  test('makes one fact of each sentence when asked to', () => {
    const answer = echoExtractor({ sentences: true })({ context: {}, messages });
    expect(answer).toMatchObject({
      facts: [{ text: 'I like tea.' }, { text: '我住在奥斯陆。' }, { text: '我喜欢猫。' }],
    });
  });
});

test('a call that nothing answers fails by name', async () => {
  const call = { name: 'summarise', input: null, system: '', request: {}, count: 1 };
  const reply = await answers({ extract_facts: echoExtractor() })(call);
  expect(reply).toMatchObject({ status: 500, body: { error: { message: expect.stringContaining('summarise') } } });
});

import { assembleContext, type ContextParts } from '@slowwave/engine';
import { seeded } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { o200kTokenizer } from './tokens.ts';

const PIECES = [
  'User lives in ',
  'Oslo',
  '上海',
  '喜欢吃辣的火锅',
  ' and ',
  '👩‍👩‍👧',
  '…',
  '//',
  '\n',
  '.',
  '   ',
  '</memory>',
  'ñandú ',
  '17:40 ',
];

/** Texts of odd pieces: where a tokenizer may join what stands side by side. */
function parts(seed: number): ContextParts {
  const random = seeded(seed);
  const text = (): string => {
    const pieces = Array.from({ length: 1 + Math.floor(random() * 12) });
    return pieces.map(() => PIECES[Math.floor(random() * PIECES.length)] ?? '').join('');
  };
  const facts = (count: number, name: string) =>
    Array.from({ length: count }, (_, i) => ({
      memoryId: `${name}${i}`,
      version: 1,
      text: text(),
      saidAt: i,
      validFrom: i * 86_400_000,
    }));
  const pending = Array.from({ length: 30 }, (_, i) => ({
    id: `msg_${i}`,
    batchId: 'bat_1',
    clientId: null,
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    name: null,
    content: text(),
    saidAt: { at: i * 60_000, seq: i },
  }));
  const relations = facts(20, 'r').map(({ memoryId: id, text: said, validFrom }) => ({ id, text: said, validFrom }));
  const task = Array.from({ length: 9 }, () => `to do: ${text()}`);
  const facts20 = facts(20, 'p');
  return { profile: facts20, memories: facts(40, 'm'), relations, summary: text().repeat(9), task, pending, told: [] };
}

test.each([1, 2, 3, 4, 5])('a context never counts more tokens than it may (texts %i)', (seed) => {
  const given = parts(seed);
  for (let maxTokens = 100; maxTokens < 900; maxTokens += 37) {
    const ask = { maxTokens, alternating: maxTokens % 2 === 0, given: [], now: 0 };
    const { block, tokens } = assembleContext(o200kTokenizer, given, { ...ask, form: 'text' });
    expect(tokens).toBe(o200kTokenizer.count(block));
    expect(tokens).toBeLessThanOrEqual(maxTokens);
    const inTurns = assembleContext(o200kTokenizer, given, { ...ask, form: 'turns' });
    const contents = [inTurns.block, ...inTurns.turns.map(({ content }) => content)];
    const counted = contents.reduce((sum, content) => sum + o200kTokenizer.count(content), 0);
    expect(inTurns.tokens).toBeGreaterThanOrEqual(counted);
    expect(inTurns.tokens).toBeLessThanOrEqual(maxTokens);
  }
});

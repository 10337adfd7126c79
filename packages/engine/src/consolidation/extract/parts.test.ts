import { expect, it } from 'vitest';
import { type Spoken, spokenOf } from '../../messages/messages.ts';
import { atOnce } from '../../ports/tools.ts';
import type { Message } from '../../words.ts';
import { cutIntoParts, piecesOf } from './infer.ts';

const say = (content: string, seq = 0): Spoken =>
  spokenOf({
    id: `m${seq}`,
    batchId: 'b',
    clientId: null,
    role: 'user',
    content,
    name: null,
    saidAt: { at: 0, seq },
    resent: false,
  } as Message);
/** One token a word, to keep the numbers small. */
const count = (text: string): number => text.split(/\s+/u).filter((word) => word !== '').length;
const partsOf = (...given: Parameters<typeof cutIntoParts>) => atOnce(cutIntoParts(...given));
const AROUND = 40;
const texts = (spoken: readonly Spoken[]): string[] => spoken.map(({ text }) => text);
const words = (n: number, word = 'word'): string => Array(n).fill(word).join(' ');

it('a window that fits is one part with nothing before it', () => {
  const window = [say('one', 1), say('two', 2)];
  expect(partsOf(window, { tokens: 1_000, overlap: 50, count })).toEqual([{ before: [], messages: window }]);
});

it('an empty window has no parts', () => {
  expect(partsOf([], { tokens: 1_000, overlap: 50, count })).toEqual([]);
});

it('a longer one is cut between messages; each part is told the end of the one before', () => {
  const window = [1, 2, 3, 4, 5].map((seq) => say(`${words(10)} ${seq}.`, seq));
  const parts = partsOf(window, { tokens: 2 * (AROUND + 11) + 5, overlap: 500, count });
  expect(parts.map(({ messages }) => messages.length)).toEqual([2, 2, 1]);
  expect(parts.flatMap(({ messages }) => messages)).toEqual(window);
  expect(parts.map(({ before }) => before.length)).toEqual([0, 0, 0]);
});

it('what is repeated of the part before fits a tenth of a part', () => {
  const window = [1, 2, 3].map((seq) => say(`${words(300)}. Short end ${seq}.`, seq));
  const parts = partsOf(window, { tokens: 400, overlap: 20, count });
  expect(parts.map(({ before }) => texts(before))).toEqual([[], ['Short end 1.'], ['Short end 2.']]);
});

it('several short messages are repeated, in order', () => {
  const window = [say(words(700), 0), say('one', 1), say('two', 2), say(words(700), 3)];
  const [, second] = partsOf(window, { tokens: 850, overlap: 10, count });
  expect(texts(second?.before ?? [])).toEqual(['one', 'two']);
});

it('one message that is too long is cut at the ends of sentences into slices that overlap', () => {
  const sentences = Array.from({ length: 100 }, (_, i) => `Sentence number ${i} is here.`);
  const long = say(sentences.join(' '), 7);
  const parts = partsOf([long], { tokens: AROUND + 100, overlap: 20, count });
  const slices = parts.flatMap(({ messages }) => messages);
  expect(parts.length).toBe(slices.length);
  expect(slices.every(({ message }) => message === long.message)).toBe(true);
  expect(slices.every(({ text }) => count(text) <= 100 && /^Sentence.*here\.$/su.test(text))).toBe(true);
  expect(sentences.every((sentence) => slices.some(({ text }) => text.includes(sentence)))).toBe(true);
  const overlapping = slices.slice(1).every(({ text }, i) => {
    const last = slices[i]?.text.match(/Sentence number \d+ is here\.$/u)?.[0] ?? 'none';
    return text.includes(last);
  });
  expect(overlapping).toBe(true);
  expect(parts.every(({ before }) => before.length === 0)).toBe(true);
});

it.each(['哈', 'a', 'word '])('80,000 times %j come to an end', (unit) => {
  const text = unit.repeat(80_000);
  const parts = partsOf([say(text)], { tokens: 24_000, overlap: 500, count: (piece) => piece.length });
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.every(({ messages }) => (messages[0]?.text.length ?? 0) <= 24_000)).toBe(true);
});

it('others have their turn after each message of a window that is cut', () => {
  let counted = 0;
  const counting = (text: string): number => {
    counted += 1;
    return count(text);
  };
  const window = [1, 2, 3, 4].map((seq) => say(words(100), seq));
  const work = cutIntoParts(window, { tokens: 150, overlap: 0, count: counting });
  const before = window.map(() => [work.next().done, counted]);
  expect(before).toEqual([
    [false, 1],
    [false, 2],
    [false, 3],
    [false, 4],
  ]);
});

it.each([
  ['sentences', 'I live here. Do you? Yes!', ['I live here. ', 'Do you? ', 'Yes!']],
  ['lines', 'one\n\ntwo', ['one\n\n', 'two']],
  ['Chinese sentences', '我住在上海。你呢？好！', ['我住在上海。', '你呢？', '好！']],
  ['quotations', '“Go!” he said. Then left.', ['“Go!” ', 'he said. ', 'Then left.']],
  ['a text without an end', 'no end', ['no end']],
  ['nothing', '', []],
  ['only dots', '...', ['...']],
])('%s are told apart', (_what, text, pieces) => {
  expect(piecesOf(text)).toEqual(pieces);
});

it.each(['a', 'a ', '哈', '😀', '.', '\n', 'ab. '])(
  'nothing of 100,000 times %j is lost, and no piece is long',
  (unit) => {
    const text = unit.repeat(100_000);
    const pieces = piecesOf(text);
    expect(pieces.join('')).toBe(text);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.filter((piece) => /[a哈😀]/u.test(piece)).every((piece) => piece.length <= 1_000)).toBe(true);
  },
);

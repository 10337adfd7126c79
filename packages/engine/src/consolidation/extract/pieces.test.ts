import { expect, it } from 'vitest';
import { piecesOf } from './parts.ts';

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

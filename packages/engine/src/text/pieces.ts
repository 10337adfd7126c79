import type { Sliced } from '../ports/tools.ts';
import { casedShare, plainOf, type Words, wordsIn } from './claims.ts';
import { cut } from './normalise.ts';

/** In characters: some milliseconds, also where no word is said twice. */
const PIECE = 4_000;
/** Of a piece, at its end: where a sentence or at least a word ends in there, it is cut. */
const ENDING = 500;

/** What a text says that may be long, piece by piece: what wordsIn makes of it, but for what reads on from one piece to the next. */
export function* wordsInPieces(text: string): Sliced<Words> {
  if (text.length <= PIECE) return wordsIn(text);
  const plain: string[] = [];
  const [words, terms, begins] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const things = new Set<number>();
  const quantities = { numbers: new Set<number>(), months: new Set<number>(), weekdays: new Set<number>() };
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at);
    const piece = wordsIn(text.slice(at, end));
    plain.push(piece.plain.trim(), isWithinWord(text, end) ? '' : ' ');
    addAll(words, piece.words);
    addAll(terms, piece.terms);
    addAll(begins, piece.begins);
    addAll(things, piece.things);
    addAll(quantities.numbers, piece.quantities.numbers);
    addAll(quantities.months, piece.quantities.months);
    addAll(quantities.weekdays, piece.quantities.weekdays);
    at = end;
    yield;
  }
  const isCased = casedShare(text) >= 0.5;
  return { plain: ` ${plain.join('').trim()} `, words, terms, begins, things, quantities, isCased };
}

function endOfPiece(text: string, at: number): number {
  if (text.length - at <= PIECE) return text.length;
  const from = at + PIECE - ENDING;
  const ending = text.slice(from, at + PIECE);
  const ends = [ending.search(/(?<=[.!?。！？]\s|\n)[^\n]*$/u), ending.search(/(?<=\s)\S*$/u)];
  const end = ends.find((one) => one > 0);
  return end === undefined ? at + cut(text.slice(at, at + PIECE), PIECE).length : from + end;
}

/** Whether a text that is cut here goes on in the same word, or the same run of a script without spaces. */
const isWithinWord = (text: string, end: number): boolean =>
  /^\S{2}$/u.test(plainOf(text.slice(end - 1, end + 1)).trim());

function addAll<Item>(to: Set<Item>, items: Iterable<Item>): void {
  for (const item of items) to.add(item);
}

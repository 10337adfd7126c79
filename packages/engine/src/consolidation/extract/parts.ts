import type { EngineDeps } from '../../deps.ts';
import type { Spoken } from '../../messages/reading.ts';
import { inSlices, type Sliced } from '../../slices.ts';
import { surelyFits } from '../../text/tokens.ts';

/** What a part repeats of the one before it, in tokens: the last exchange. */
const OVERLAP_TOKENS = 500;
/** A model that finds no end in so few tokens finds none in fewer. */
const HALVED_TOKENS_MIN = 500;

/** How long the parts are that a model is shown of a window, each in one call. */
export const partLimits = ({ settings, tokenizer }: EngineDeps, tokens = settings.partTokens): PartLimits => ({
  tokens,
  overlap: OVERLAP_TOKENS,
  count: tokenizer.count,
});

/** Cuts a part in two; null: it is too short. */
export const halvingParts =
  (deps: EngineDeps) =>
  async ({ before, messages }: Part): Promise<readonly Part[] | null> => {
    const tokens = messages.reduce((sum, { text }) => sum + deps.tokenizer.count(text), 0);
    if (tokens < HALVED_TOKENS_MIN) return null;
    const halves = await inSlices(deps.tools, cutIntoParts(messages, partLimits(deps, Math.ceil(tokens / 2))));
    return halves.length < 2 ? null : halves.map((half, i) => (i === 0 ? { ...half, before } : half));
  };

/** What one call reads: new messages, and the end of the part before, to be understood and not read again. */
export interface Part {
  readonly before: readonly Spoken[];
  readonly messages: readonly Spoken[];
}

interface PartLimits {
  /** New messages of one part, in tokens. */
  readonly tokens: number;
  /** What is repeated of the part before, in tokens; at most a tenth of a part, so that small parts still move on. */
  readonly overlap: number;
  readonly count: (text: string) => number;
}

/** What JSON puts around a message: id, role, time and name, in tokens. */
const AROUND_MESSAGE = 40;
const OVERLAP_SHARE_MAX = 0.1;

/**
 * A window in parts that fit one call each, cut between messages. A message that is longer than a part is cut into
 * slices at the ends of sentences, each beginning with the last sentences of the one before. Counting the tokens of a large
 * window takes a second: it rests after each message.
 */
export function* cutIntoParts(window: readonly Spoken[], given: PartLimits): Sliced<readonly Part[]> {
  const texts = window.map(({ text }) => text);
  if (window.length > 0 && surelyFits(texts, { ...given, around: AROUND_MESSAGE })) {
    return [{ before: [], messages: window }];
  }
  const limits = { ...given, overlap: Math.min(given.overlap, Math.floor(given.tokens * OVERLAP_SHARE_MAX)) };
  const parts: Spoken[][] = [];
  let room = 0;
  for (const message of window) {
    for (const { spoken, cost } of sliced(message, limits)) {
      if (cost > room || parts.length === 0) {
        parts.push([]);
        room = limits.tokens;
      }
      parts.at(-1)?.push(spoken);
      room -= cost;
    }
    yield;
  }
  return parts.map((messages, i) => ({ before: endOf(parts[i - 1] ?? [], messages[0], limits), messages }));
}

interface Costed {
  readonly spoken: Spoken;
  readonly cost: number;
}

function sliced(spoken: Spoken, { tokens, overlap, count }: PartLimits): Costed[] {
  const cost = count(spoken.text) + AROUND_MESSAGE;
  if (cost <= tokens) return [{ spoken, cost }];
  const pieces = piecesOf(spoken.text).map((text) => ({ text, cost: count(text) }));
  const slices: Costed[] = [];
  for (let from = 0, end = 0; end < pieces.length; ) {
    end = Math.max(end + 1, endWithin(pieces, from, tokens - AROUND_MESSAGE));
    const slice = pieces.slice(from, end);
    const text = slice
      .map((piece) => piece.text)
      .join('')
      .trim();
    slices.push({ spoken: { ...spoken, text }, cost: costOf(slice) + AROUND_MESSAGE });
    from = startWithin(pieces, end, overlap);
  }
  return slices;
}

interface Piece {
  readonly text: string;
  readonly cost: number;
}

const costOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { cost }) => sum + cost, 0);

/** The first piece there is no room for any more. */
function endWithin(pieces: readonly Piece[], from: number, tokens: number): number {
  let room = tokens;
  const over = pieces.findIndex((piece, i) => {
    if (i >= from) room -= piece.cost;
    return room < 0;
  });
  return over === -1 ? pieces.length : over;
}

/** The first of the last pieces before `end` that fit together. */
function startWithin(pieces: readonly Piece[], end: number, tokens: number): number {
  let room = tokens;
  let start = end;
  while (start > 0 && room >= (pieces[start - 1]?.cost ?? 0)) {
    start -= 1;
    room -= pieces[start]?.cost ?? 0;
  }
  return start;
}

/** The last messages of a part that fit, the first of them by its end; none of a message that goes on in the next part. */
function endOf(part: readonly Spoken[], next: Spoken | undefined, { overlap, count }: PartLimits): Spoken[] {
  const end: Spoken[] = [];
  let room = overlap;
  for (const spoken of part.filter(({ message }) => message !== next?.message).toReversed()) {
    const pieces = piecesOf(spoken.text).map((text) => ({ text, cost: count(text) }));
    const start = startWithin(pieces, pieces.length, room);
    const text = pieces
      .slice(start)
      .map((piece) => piece.text)
      .join('')
      .trim();
    if (text !== '') end.unshift({ ...spoken, text });
    room -= costOf(pieces.slice(start));
    if (start > 0) break;
  }
  return end;
}

/** Longest piece, in UTF-16 units: a page without a full stop is cut at a space, or anywhere. */
const PIECE_MAX = 1_000;

/** A text in sentences and lines, in order, nothing left out. Takes linear time. */
export function piecesOf(text: string): string[] {
  const sentences = text.match(/[^.!?。！？\n]*[.!?。！？\n]+[”"'’」』)\]]*\s*|[^.!?。！？\n]+$/gu) ?? [];
  return sentences.flatMap(cutLong);
}

function cutLong(sentence: string): string[] {
  const cuts: string[] = [];
  let from = 0;
  while (sentence.length - from > PIECE_MAX) {
    const end = borderBefore(sentence, from);
    cuts.push(sentence.slice(from, end));
    from = end;
  }
  return [...cuts, sentence.slice(from)];
}

/** Behind the last space that fits; where there is none, not through the middle of a character. */
function borderBefore(sentence: string, from: number): number {
  const space = sentence.lastIndexOf(' ', from + PIECE_MAX - 1);
  if (space > from) return space + 1;
  const end = from + PIECE_MAX;
  const half = /[\uDC00-\uDFFF]/u.test(sentence.charAt(end));
  return half ? end - 1 : end;
}

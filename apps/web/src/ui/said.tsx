import type { Source } from '@slowwave/sdk';
import { Fragment, type ReactNode } from 'react';

/** What is shown where the text of a message was. */
export const WITHHELD: Readonly<Record<NonNullable<Source['withheld']>, string>> = {
  retention: 'Retention removed this message.',
  personal_data: 'This message contained personal data, which is not stored.',
  forgotten: 'This message contained something that was forgotten.',
  paused: 'This was said while memory was paused.',
};

interface Message {
  readonly source: Source;
  /** Who said it, and when, as the page tells it. */
  readonly by: string;
  readonly at: ReactNode;
}

/** A message that something rests on, with the words of it that say that. */
export function Said({ source, by, at }: Message) {
  const { content, quotes = [], is_source: isSource, withheld } = source;
  return (
    <li>
      <p className="quiet">
        {by}, {at}
      </p>
      <blockquote className={isSource ? 'text source' : 'text quiet'}>
        {withheld === undefined ? <Marked text={content} quotes={quotes} /> : <em>{WITHHELD[withheld]}</em>}
      </blockquote>
    </li>
  );
}

/** A text with words of it marked, wherever they stand. */
function Marked({ text, quotes }: { readonly text: string; readonly quotes: readonly string[] }) {
  return piecesOf(text, quotes).map(({ at, piece, isQuote }) =>
    isQuote ? <mark key={at}>{piece}</mark> : <Fragment key={at}>{piece}</Fragment>,
  );
}

interface Piece {
  readonly at: number;
  readonly piece: string;
  readonly isQuote: boolean;
}

/** What several quotes have in common is marked once. */
function piecesOf(text: string, quotes: readonly string[]): readonly Piece[] {
  const isMarked = new Uint8Array(text.length);
  for (const quote of quotes) {
    const at = text.indexOf(quote);
    if (at >= 0) isMarked.fill(1, at, at + quote.length);
  }
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; ) {
    const isQuote = isMarked[at] === 1;
    const end = isMarked.indexOf(isQuote ? 0 : 1, at);
    const next = end < 0 ? text.length : end;
    pieces.push({ at, piece: text.slice(at, next), isQuote });
    at = next;
  }
  return pieces;
}

import type { Source } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { api } from '../../api.ts';
import { Answer } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { WITHHELD } from '../../ui/withheld.ts';

/** So many messages before and after each, once somebody wants to read around it. */
const AROUND = 3;

/** What was said: the messages that a memory came from, with the words it rests on. */
export function Sources({ id }: { readonly id: string }) {
  const [isWide, setWide] = useState(false);
  const reach = isWide ? AROUND : 0;
  const sources = useQuery({
    queryKey: ['memory', id, 'sources', reach],
    queryFn: ({ signal }) => api.memories.sources(id, { before: reach, after: reach }, { signal }),
  });
  return (
    <section aria-label="What was said">
      <Answer of={sources}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">No message is behind it: it was written by hand, or its messages are not kept.</p>
          ) : (
            <>
              <ol className="lines">
                {results.map((source) => (
                  <Said key={source.message_id} source={source} />
                ))}
              </ol>
              <button type="button" aria-pressed={isWide} onClick={() => setWide(!isWide)}>
                Show what was said around it
              </button>
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Said({ source }: { readonly source: Source }) {
  const { role, name, content, quotes = [], said_at: at, is_source: isSource, withheld } = source;
  return (
    <li>
      <p className="quiet">
        {name ?? role}, <Moment iso={at} />
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

import { diffWords } from 'diff';

/** Knows where words end, in languages that put no spaces between them too. */
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });

interface Texts {
  /** null: there was none before, or there is none any more. */
  readonly from: string | null;
  readonly to: string | null;
}

/** What a text says differently from the one before, word by word. */
export function Diff({ from, to }: Texts) {
  const parts = diffWords(from ?? '', to ?? '', { intlSegmenter: WORDS });
  return (
    <p className="text">
      {parts.map(({ value, added, removed }, at) => {
        const key = `${at} ${value}`;
        if (added) return <ins key={key}>{value}</ins>;
        return removed ? <del key={key}>{value}</del> : <span key={key}>{value}</span>;
      })}
    </p>
  );
}

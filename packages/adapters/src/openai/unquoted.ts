import type { Complaint } from './complaint.ts';

/** Shorter than this it may be the server's own words, which happen to stand in what it was sent. */
const QUOTE_MIN = 12;
/** What stands between quotation marks is quoted, however short. */
const IN_MARKS = /(?<=["'`“‘「])[^"'`”’」]{3,}(?=["'`”’」])/gu;
const LEFT_OUT = '…';

/**
 * A complaint without what it quotes of the texts it was sent: it is told in logs, where nothing is that people have said.
 * The error of the library behind it quotes the same.
 */
export function unquoted(complaint: Complaint, sent: readonly string[]): Complaint {
  const all = sent.join('\n');
  const marked = complaint.text.replace(IN_MARKS, (words) => (all.includes(words) ? LEFT_OUT : words));
  const text = withoutRuns(marked, all);
  return text === complaint.text ? complaint : { ...complaint, text, cause: undefined };
}

/** Complaints are cut to a few hundred characters: looking each of them up takes no time that matters on this way. */
function withoutRuns(text: string, sent: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const length = runAt(text, at, sent);
    kept += length === 0 ? text.charAt(at) : LEFT_OUT;
    at += Math.max(1, length);
  }
  return kept;
}

/** How many characters from here on stand in what was sent; 0: too few to be a quote. */
function runAt(text: string, from: number, sent: string): number {
  let length = QUOTE_MIN;
  if (from + length > text.length || !sent.includes(text.slice(from, from + length))) return 0;
  while (from + length < text.length && sent.includes(text.slice(from, from + length + 1))) length += 1;
  return length;
}

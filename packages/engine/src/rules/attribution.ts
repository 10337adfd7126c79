import { normaliseText } from '../text/normalise.ts';
import { termSet } from '../text/similarity.ts';
import { compareSaid } from '../words.ts';
import type { Spoken } from './messages.ts';

/** What is known of where a fact came from. */
export interface Clue {
  readonly text: string;
  readonly quote: string | null;
}

/** Messages by how likely a fact came from them, likeliest first. */
export type Attribute = (clue: Clue, pool: readonly Spoken[]) => readonly Spoken[];

/** How much the words of the message before count: an answer is understood by its question. */
const BEFORE_WEIGHT = 0.3;
/** Words of how facts are written, not of what was said. */
const FRAME = termSet("user user's users assistant agent 用户 助手");

/**
 * Finds the source of a fact that names none, among the messages of a window. Words that few messages have weigh most;
 * of two alike the later one comes first, because the last word on a matter is the one that counts.
 */
export function attribution(window: readonly Spoken[]): Attribute {
  const heard = heardIn(window);
  const rarities = raritiesIn([...heard.values()]);
  return (clue, pool) => {
    const asked = [...termSet(`${clue.text}\n${clue.quote ?? ''}`)].filter((term) => !FRAME.has(term));
    const quote = normaliseText(clue.quote ?? '');
    const scored = pool.map((spoken) => ({
      spoken,
      quoted: quote !== '' && normaliseText(spoken.text).includes(quote),
      score: scoreOf(asked, heard.get(spoken), rarities),
    }));
    return scored.toSorted(likeliest).map(({ spoken }) => spoken);
  };
}

/** The words of a message, and those of the one before it that it does not have itself. */
interface Heard {
  readonly own: ReadonlySet<string>;
  readonly before: ReadonlySet<string>;
}

function heardIn(window: readonly Spoken[]): ReadonlyMap<Spoken, Heard> {
  const words = window.map(({ text }) => termSet(text));
  return new Map(
    window.map((spoken, i) => [spoken, { own: words[i] ?? NO_WORDS, before: words[i - 1] ?? NO_WORDS }] as const),
  );
}

const NO_WORDS: ReadonlySet<string> = new Set();

function raritiesIn(heard: readonly Heard[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { own } of heard) for (const term of own) counts.set(term, (counts.get(term) ?? 0) + 1);
  return new Map(
    [...counts].map(([term, found]) => [term, Math.log(1 + (heard.length - found + 0.5) / (found + 0.5))]),
  );
}

function scoreOf(asked: readonly string[], heard: Heard | undefined, rarities: ReadonlyMap<string, number>): number {
  if (heard === undefined) return 0;
  return asked.reduce((sum, term) => {
    const weight = heard.own.has(term) ? 1 : heard.before.has(term) ? BEFORE_WEIGHT : 0;
    return sum + weight * (rarities.get(term) ?? 0);
  }, 0);
}

interface Scored {
  readonly spoken: Spoken;
  readonly quoted: boolean;
  readonly score: number;
}

const likeliest = (a: Scored, b: Scored): number =>
  Number(b.quoted) - Number(a.quoted) ||
  b.score - a.score ||
  compareSaid(b.spoken.message.saidAt, a.spoken.message.saidAt);

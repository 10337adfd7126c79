import type { Spoken } from '../../messages/messages.ts';
import type { Sliced } from '../../ports/tools.ts';
import { factTerms } from '../../text/claims.ts';
import { normaliseText } from '../../text/normalise.ts';
import { once, termSet } from '../../text/terms.ts';
import { compareSaid } from '../../words.ts';

/** What is known of where a fact came from. */
interface Clue {
  readonly text: string;
  readonly quote: string | null;
}

/** Messages by how likely a fact came from them, likeliest first. */
export type Attribute = (clue: Clue, pool: readonly Spoken[]) => readonly Spoken[];

/** How much the words of the message before count: an answer is understood by its question. */
const BEFORE_WEIGHT = 0.3;
/** A question seldom says anything of who asks it. */
const QUESTION_WEIGHT = 0.8;
/** Facts begin with what is known ("User lives in…") and end with what is new: their last word counts twice their first. */
const END_WEIGHT = 2;
/**
 * Finds the source of a fact that names none, among the messages of a window. Words that few messages have weigh most;
 * of two alike the later one comes first, because the last word on a matter is the one that counts.
 */
export function* attributing(window: readonly Spoken[]): Sliced<Attribute> {
  const heard = yield* wordsHeard(window);
  const rarities = yield* raritiesIn([...heard.values()]);
  const wordsOf = once((spoken: Spoken) => normaliseText(spoken.text));
  return (clue, pool) => {
    const asked = weighed(clue, rarities);
    const quote = normaliseText(clue.quote ?? '');
    const scored = pool.map((spoken) => ({
      spoken,
      quoted: quote !== '' && wordsOf(spoken).includes(quote),
      score: scoreOf(asked, heard.get(spoken)),
    }));
    return scored.toSorted(likeliest).map(({ spoken }) => spoken);
  };
}

/** What is looked for, with how much it counts; what no message says is not. */
function weighed({ text, quote }: Clue, rarities: ReadonlyMap<string, number>): readonly Weighed[] {
  const words = [...factTerms(text)];
  const weights = new Map([...termSet(quote ?? '')].map((term) => [term, 1]));
  for (const [i, term] of words.entries()) weights.set(term, 1 + ((END_WEIGHT - 1) * i) / words.length);
  return [...weights].flatMap(([term, weight]) => {
    const rarity = rarities.get(term);
    return rarity === undefined ? [] : [{ term, weight: weight * rarity }];
  });
}

interface Weighed {
  readonly term: string;
  readonly weight: number;
}

/** The words of a message, and those of the one before it that it does not have itself. */
interface Heard {
  readonly own: ReadonlySet<string>;
  readonly before: ReadonlySet<string>;
  readonly weight: number;
}

function* wordsHeard(window: readonly Spoken[]): Sliced<ReadonlyMap<Spoken, Heard>> {
  const heard = new Map<Spoken, Heard>();
  let before = NO_WORDS;
  for (const spoken of window) {
    yield;
    const own = termSet(spoken.text);
    heard.set(spoken, { own, before, weight: /[?？]$/u.test(spoken.text.trimEnd()) ? QUESTION_WEIGHT : 1 });
    before = own;
  }
  return heard;
}

const NO_WORDS: ReadonlySet<string> = new Set();

function* raritiesIn(heard: readonly Heard[]): Sliced<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { own } of heard) {
    yield;
    for (const term of own) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return new Map(
    [...counts].map(([term, found]) => [term, Math.log(1 + (heard.length - found + 0.5) / (found + 0.5))]),
  );
}

function scoreOf(asked: readonly Weighed[], heard: Heard | undefined): number {
  if (heard === undefined) return 0;
  let score = 0;
  for (const { term, weight } of asked) {
    if (heard.own.has(term)) score += weight;
    else if (heard.before.has(term)) score += BEFORE_WEIGHT * weight;
  }
  return score * heard.weight;
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

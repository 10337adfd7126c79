import type { IndexHit } from '../../ports/search-index.ts';
import { STOP_WORDS } from '../../text/stop-words.ts';
import type { RankQuestion } from './question.ts';

/**
 * A fact that begins with whom the question names is about them; one that only mentions them, or begins with somebody of
 * theirs, is not. Parts near-duplicates: who has the dog, and whose sister has it. There it gains .05 to
 * .1 of MRR; elsewhere it changes nothing.
 */
const NAMED_SUBJECT = 0.15;

const START = /^\s*(?<name>\p{Lu}[\p{L}\p{M}\p{N}-]*)(?:['’]s\s+(?<whose>[\p{L}\p{M}\p{N}]+)|\s+\p{L})/u;
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** What follows a name that is only called: Ann, you too? */
const CALLED = /^[^\p{L}\p{N}]/u;
/** Between an owner and what is theirs, in Chinese, Japanese and Korean. */
const OF = /^[的の의]/u;
/** Shorter is no name where words are not separated; longer is the beginning of a sentence. */
const NAME_MIN = 2;
const NAME_MAX = 4;

export function subject({ text }: RankQuestion, hits: readonly IndexHit[]): readonly number[] {
  const question = text.normalize('NFKC').toLowerCase();
  const words = new Set(question.match(/[\p{L}\p{M}\p{N}-]+/gu) ?? []);
  return hits.map(({ point }) => (isAbout(point.text, question, words) ? NAMED_SUBJECT : 0));
}

function isAbout(text: string, question: string, words: ReadonlySet<string>): boolean {
  if (UNSPACED.test(text)) return beginsAlike(text, question);
  const { name, whose } = START.exec(text)?.groups ?? {};
  const first = name?.toLowerCase();
  if (first === undefined || STOP_WORDS.has(first) || !words.has(first)) return false;
  return whose === undefined || words.has(whose.toLowerCase());
}

/** 王小芳养了狗 is about 王小芳; 王小芳的妹妹养了狗 only where the question goes on with 的妹 as well. */
function beginsAlike(text: string, question: string): boolean {
  for (let length = NAME_MAX; length >= NAME_MIN; length -= 1) {
    const place = question.indexOf(text.slice(0, length));
    if (place === -1) continue;
    const rest = text.slice(length);
    if (CALLED.test(rest)) return false;
    return !OF.test(rest) || question.slice(place + length).startsWith(rest.slice(0, NAME_MIN));
  }
  return false;
}

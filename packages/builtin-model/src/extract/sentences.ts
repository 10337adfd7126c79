/** What a reader of one language found in a sentence. */
export interface Found {
  readonly text: string;
  readonly category: string;
  /** The resolved day it is about, YYYY-MM-DD; null when it names none. */
  readonly validFrom: string | null;
}

/** A clause with its date taken apart: rules for lasting states read `without`, those for events read `labelled`. */
export interface Dated {
  readonly raw: string;
  readonly without: string;
  readonly labelled: string;
  readonly validFrom: string | null;
}

export interface Sentence {
  /** As it was written; a piece of the message. */
  readonly text: string;
  readonly question: boolean;
}

/** Longer messages are documents; what somebody says about themselves comes first. In characters. */
const READ_CHARS_MAX = 20_000;
/** Longer sentences are pasted text, and patterns should not run over them. In characters. */
const SENTENCE_CHARS_MAX = 400;

/** Code, quoted lines, what others are quoted with, and addresses: none of it is said by the speaker. */
const NOT_SPOKEN = [
  /```[\s\S]*?(?:```|$)/gu,
  /^[ \t]*(?:>|\||#{1,6} |\$ ).*$/gmu,
  /\b(?:said|says|told \w+|asked|wrote|replied|texted|answered)\s*[,:]?\s*["“][^"”\n]{0,500}["”]/giu,
  /[说问道写][，,：:]?\s*[“"「][^”"」\n]{0,500}[”"」]/gu,
];
const ABBREVIATION = /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|e\.g|i\.e|No|\p{Lu})$/u;
const OPENS_QUESTION =
  /^(?:(?:and|but|so|hi|hey|hello|also|ok|well)[\s,]+)*(?:what|who|whom|whose|where|when|why|how|which|can|could|would|will|should|do|does|did|is|are|am|was|were|has|have you|shall|may|isn't|aren't|don't you|any)\b/iu;
const CHINESE_QUESTION =
  /(?:吗|呢|么)$|什么|哪里|哪儿|哪个|哪些|谁|怎么|怎样|如何|为什么|为啥|多少|几点|是不是|能不能|可不可以|有没有|好不好|要不要|知不知道/u;

/** The sentences of a message that its author says. */
export function sentencesOf(content: string): readonly Sentence[] {
  const spoken = NOT_SPOKEN.reduce((text, pattern) => text.replace(pattern, '\n'), content.slice(0, READ_CHARS_MAX));
  return split(spoken).filter(({ text }) => text !== '' && text.length <= SENTENCE_CHARS_MAX);
}

/** Whether a Chinese clause asks something. */
export const asksInChinese = (clause: string): boolean => CHINESE_QUESTION.test(clause);

function split(text: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  for (const match of text.matchAll(/[.!?…]{1,8}(?=\s|$|["”)'])|[。！？]{1,8}|\n/gu)) {
    const sentence = text.slice(start, match.index);
    if (match[0] === '.' && ABBREVIATION.test(sentence.slice(-8))) continue;
    sentences.push(sentenceOf(sentence, match[0]));
    start = match.index + match[0].length;
  }
  return [...sentences, sentenceOf(text.slice(start), '')];
}

function sentenceOf(raw: string, end: string): Sentence {
  const text = raw
    .trim()
    .replace(/^[\s"”')*•-]+/u, '')
    .replace(/^\d{1,2}[.)]\s+/u, '');
  return { text, question: /[?？]/u.test(end) || OPENS_QUESTION.test(text) };
}

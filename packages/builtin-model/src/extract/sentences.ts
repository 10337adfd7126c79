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

/** With these somebody takes back what they say, or shows that they do not mean it: the whole message is left. */
const IN_JEST =
  /\b(?:kidding|jk|lol|lmao|rofl|(?:ha){2,}h?|ha,? ha|(?:he){2,}|sarcasm|said no one ever|in my dreams|yeah,? right)\b|(?<!\S)\/[sj]\b|[😂🤣😜😝😉🙃😏]|开玩笑|哈哈|逗你|骗你/iu;
const POLITELY =
  "^(?:(?:please|now|ok|okay|so|can you|could you|would you|help me|i (?:need|want|would like) you to|let us|let's)[\\s,]+)*";
/** From here on somebody speaks in a role, or hands over a text to work on. */
const NOT_ONESELF = new RegExp(
  `${POLITELY}(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|repeat|analy[sz]e|continue|complete|correct|improve|edit|format|pretend|imagine|suppose|act (?:as|like)|play (?:the|a)|you are (?:now|an?|my|the))\\b|\\b(?:role[- ]?play|my character|in character|once upon a time|dungeon master|fan ?fiction)\\b|\\b(?:this|following|begins? with|starts? with|sentence|text|message|e-?mail|letter|bio|profile|essay|paragraph|phrase|story|poem|song|lyrics|form|english|french|german|spanish|chinese)\\b[^.:]{0,40}:|^(?!(?:ps|p\\.s\\.|fun fact|facts?|correction|update|notes?|me|btw|fyi|edit|reminder|one (?:more )?thing|also|info|important|well|so|yes|no|sorry|ok|oh|wait|hello|hi|confession|about me|answer|actually|anyway|(?:good|big|bad) news|news|background|context|never forget|remember|(?:please )?note) ?:)[a-z]+(?: [a-z]+)?: |假装|扮演|角色|翻译|续写|改写|润色|小说|(?:这段|下面|以下).{0,12}[：:]`,
  'iu',
);
const BACK_TO_ONESELF =
  /\b(?:stop|end|enough|leave|out of) .{0,20}(?:role[- ]?play|game|character)\b|(?:结束|停止).{0,6}(?:扮演|角色)/iu;
const IN_A_ROLE = /\b(?:role[- ]?play|pretend|my character|in character|dungeon master)\b|扮演|假装/iu;

/** Code, quoted lines, what others are quoted with, and addresses: none of it is said by the speaker. */
const NOT_SPOKEN = [
  /```[\s\S]*?(?:```|$)/gu,
  /`[^`\n]*`/gu,
  /^[ \t]*(?:>|\||#{1,6} |\$ |(?:const|let|var|def|class|import|return|function|SELECT|INSERT|UPDATE|DELETE|CREATE) ).*$/gmu,
  /^.*(?:[{}]|;[ \t]*$|=>|\/\/(?!\w)|<\/?[a-z]+>|[\w\])] ?={1,3} ?["'\w[]).*$/gmu,
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
  if (IN_JEST.test(spoken)) return [];
  const sentences = split(spoken).filter(({ text }) => text !== '' && text.length <= SENTENCE_CHARS_MAX);
  const role = sentences.findIndex(({ text }) => NOT_ONESELF.test(text.replace(/’/gu, "'")));
  return role < 0 ? sentences : sentences.slice(0, role);
}

/** Whether a user plays a role after a text, having played one before it or not. */
export const inARole = (before: boolean, text: string): boolean =>
  !BACK_TO_ONESELF.test(text) && (before || IN_A_ROLE.test(text));

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

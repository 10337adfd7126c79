import type { JsonObject } from '@slowwave/engine';
import { listOf, objectOf, textOf } from '../shapes.ts';
import { type Day, dayOf, dayTold } from './calendar.ts';
import { categoryOf } from './category.ts';
import { readChinese, type Subject } from './chinese/read.ts';
import { readEnglish } from './english/read.ts';
import { wishToForget } from './forget.ts';
import type { Found } from './found.ts';
import { withoutOverruled } from './overruled.ts';
import { type Sentence, sentencesOf } from './sentences.ts';

interface Spoken {
  readonly id: string;
  readonly content: string;
  readonly today: Day;
}
interface Extracted extends Found {
  readonly sources: readonly string[];
  readonly quote: string;
}

/** What the user says about themselves in new messages; assistants, tools and systems say nothing of them. */
export function extractFacts(input: JsonObject): JsonObject {
  const now = dayTold(objectOf(input.context).now) ?? dayOf(new Date(0));
  const facts: Extracted[] = [];
  for (const message of listOf(input.messages).map(objectOf)) {
    if (message.role !== 'user') continue;
    const today = dayTold(message.timestamp) ?? now;
    for (const fact of factsOf({ id: textOf(message.id), content: textOf(message.content), today })) add(facts, fact);
  }
  return { facts: facts.map(written) };
}

function factsOf({ id, content, today }: Spoken): readonly Extracted[] {
  let subject: Subject = { kind: 'unsaid' };
  const facts = sentencesOf(content).flatMap((sentence) => {
    const read = readSentence(sentence, { today, subject });
    subject = read.subject;
    return read.found
      .filter(({ text }) => !SECRET.test(text))
      .map((found) => ({ ...found, sources: [id], quote: sentence.text }));
  });
  return withoutOverruled(facts);
}

/** Passwords, keys and card numbers are nobody's memory. */
const SECRET =
  /\b(?:password|passcode|pin code|api key|secret key|private key|credit card|ssn|social security)\b|密码|口令|银行卡号|身份证号|(?:\d[ -]?){13,}/iu;

function readSentence(sentence: Sentence, state: { readonly today: Day; readonly subject: Subject }) {
  const wish = wishToForget(
    sentence.text,
    (statement) => readStatement({ text: statement, question: false }, state).found,
  );
  return wish === null ? readStatement(sentence, state) : { found: wish, subject: state.subject };
}

function readStatement(sentence: Sentence, state: { readonly today: Day; readonly subject: Subject }) {
  if (/\p{Script=Han}/u.test(sentence.text)) return readChinese(sentence, state);
  return { found: readEnglish(sentence, state.today), subject: state.subject };
}

/** The same said twice is one fact with two sources. */
function add(facts: Extracted[], fact: Extracted): void {
  const at = facts.findIndex(({ text }) => text === fact.text);
  const known = facts[at];
  if (known === undefined) facts.push(fact);
  else facts[at] = { ...known, sources: [...new Set([...known.sources, ...fact.sources])] };
}

const written = ({ text, category, validFrom, sources, quote }: Extracted): JsonObject => ({
  text,
  source_ids: [...sources],
  quote,
  category: categoryOf(text, category),
  language: /\p{Script=Han}/u.test(text) ? 'zh' : 'en',
  valid_from: validFrom,
  about: 'user',
});

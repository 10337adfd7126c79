import { maskSecrets } from '../masking/secrets.ts';
import { textUnderKeys } from '../models/parse/answer.ts';
import { REWRITE, type RewriteInput } from '../models/prompts/inquiry.ts';
import { cleanText, cut, shorten } from '../text/normalise.ts';
import type { Role } from '../words.ts';
import { askReading, type Reader } from './think.ts';

/** A question, and what was said just before it, oldest first. */
export interface LeaningQuestion {
  readonly question: string;
  readonly said: readonly { readonly role: Role; readonly text: string }[];
}

/** Of one message: what a question leans on stands near its end or its beginning, and long ones are pasted. */
const MESSAGE_TOKENS_MAX = 300;
/** The last messages: a question seldom leans on what came before them. */
const MESSAGES_MAX = 12;
const QUESTION_TOKENS_MAX = 1_000;
/** Characters of what is searched for instead; an answer is no question. */
const REWRITTEN_MAX = 1_000;

/** The question in words that need no conversation around them, by a chat model. */
export async function rewriteQuestion(reader: Reader, { question, said }: LeaningQuestion): Promise<string> {
  const input: RewriteInput = {
    question: shorten(asRead(question), QUESTION_TOKENS_MAX),
    messages: said
      .slice(-MESSAGES_MAX)
      .map(({ role, text }) => ({ role, content: shorten(asRead(text), MESSAGE_TOKENS_MAX) })),
  };
  const shape = textUnderKeys('question', 'query', 'text');
  const { value } = await askReading(reader, { prompt: REWRITE, ask: 'Rewrite the question.', input, shape });
  return cut(value, REWRITTEN_MAX);
}

const asRead = (text: string): string => maskSecrets(cleanText(text).trim()).text;

import { secretIn } from '../../masking/secrets.ts';
import type { Spoken } from '../../messages/reading.ts';
import type { RawFact } from '../../models/parse/facts.ts';
import { millisOf } from '../../text/dates.ts';
import { normaliseText } from '../../text/normalise.ts';
import { isChatter, isQuestion } from './chatter.ts';
import { echoesSystem, type Window } from './echo.ts';
import { isGreeting } from './greetings.ts';

/** A text longer than this is not one fact. Verbatim messages and procedures are stored whole. */
export const FACT_MAX = 4_000;
export const TOO_LONG = `longer than ${FACT_MAX} characters: not one fact`;

/** Why a fact is not worth keeping; null when it is. Each rule is one reason, told in the plan. */
export function junkReason(fact: RawFact, window: Window): string | null {
  for (const rule of RULES) {
    const reason = rule(fact, window);
    if (reason !== null) return reason;
  }
  return null;
}

type Rule = (fact: RawFact, window: Window) => string | null;

const secret: Rule = (fact) => {
  const kind = secretIn(fact.text);
  return kind === null ? null : secretReason(kind);
};
const tooLong: Rule = ({ text }) => (text.length > FACT_MAX ? TOO_LONG : null);
const bareDate: Rule = ({ text }) => (millisOf(text) === null ? null : 'only a date');
const wordless: Rule = ({ text }) =>
  /[a-z0-9]/iu.test(text) || /[\p{L}\p{N}]/u.test(normaliseText(text)) ? null : 'no word in it';
const chatter: Rule = ({ text }) =>
  isGreeting(text) || isChatter(text) ? 'about the conversation, not the user' : null;
const question: Rule = ({ text }) => (isQuestion(text) ? 'a question, not a fact' : null);
const echo: Rule = (fact, window) =>
  echoesSystem(fact, window) ? 'repeats the system prompt; nobody else said it' : null;

/** Secrets first: no other reason may show one. */
const RULES: readonly Rule[] = [secret, tooLong, bareDate, wordless, chatter, question, echo];

export const secretReason = (kind: string): string => `secret: ${kind}`;

/** Why nothing can be remembered of a message, were it alone; null when something may. */
export function idleReason({ message, text }: Spoken, { agent }: { readonly agent: boolean }): string | null {
  if (text === '') return 'empty message';
  if (message.role === 'system') return 'said by the system, not by anyone';
  if (isGreeting(text)) return 'greeting or thanks';
  return message.role === 'assistant' && !agent ? 'said by the assistant, not by the user' : null;
}

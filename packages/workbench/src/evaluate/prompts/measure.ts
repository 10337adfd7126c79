import {
  type ChatAnswer,
  type ChatModel,
  EngineError,
  type ExtractInput,
  factsIn,
  readAnswer,
  userMessage,
} from '@slowwave/engine';
import { each } from '../../api.ts';
import { CONVERSATIONS, type Conversation, missingIn, toldIn } from '../../real-models/conversations.ts';
import { unsaidIn } from '../../real-models/unsaid.ts';
import type { Variant } from './variants.ts';

/** What one variant of the prompt made of all conversations. */
export interface Measured {
  readonly variant: string;
  readonly answers: readonly Answered[];
}

export interface Answered {
  readonly said: string;
  /** Nothing could be read in the answer. */
  readonly isUnusable: boolean;
  readonly facts: readonly { readonly text: string; readonly origin: Origin }[];
  /** How many facts may be remembered of it. */
  readonly told: number;
  /** How many of them no grounded fact tells. */
  readonly missed: number;
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** Where the words of a fact come from: the message; the prompt alone; neither. */
type Origin = 'grounded' | 'copied' | 'invented';

export interface Trial {
  readonly chat: ChatModel;
  readonly conversations: readonly Conversation[];
  /** So many questions at once: a model on this machine takes one after the other, and each waits for those before it. */
  readonly atOnce: number;
  readonly progress: (text: string) => void;
}

/** Asks for the facts of each conversation, with one variant of the prompt. */
export async function measure(
  { chat, conversations, atOnce, progress }: Trial,
  { name, prompt }: Variant,
): Promise<Measured> {
  let answered = 0;
  const ask = async (conversation: Conversation): Promise<Answered> => {
    const call = { ...prompt, user: userMessage('Find the facts.', inputOf(conversation)) };
    const answer = await chat.ask(call, NEVER).catch(unusable);
    answered += 1;
    progress(`${name}: ${answered} of ${conversations.length} answers`);
    return judged(conversation, { system: prompt.system, answer });
  };
  return { variant: name, answers: await each(conversations, ask, atOnce) };
}

/** So many of the conversations, from all their languages. */
export const someOf = (count: number): readonly Conversation[] =>
  CONVERSATIONS.filter(
    (_, i) => Math.floor((i * count) / CONVERSATIONS.length) !== Math.floor(((i - 1) * count) / CONVERSATIONS.length),
  );

const NEVER = new AbortController().signal;
const SAID_AT = '2026-03-09T10:00:00Z';

const inputOf = ({ said }: Conversation): ExtractInput => ({
  context: { summary: null, recent: [], now: SAID_AT, instructions: null },
  messages: [{ id: 'm0', role: 'user', content: said, timestamp: SAID_AT, name: null }],
});

/** What a model cannot answer is an answer of no use; that nobody answers is the server's fault. */
function unusable(error: unknown): null {
  if (error instanceof EngineError && ['model_output_unusable', 'context_too_long'].includes(error.code)) return null;
  throw error;
}

function judged(
  conversation: Conversation,
  { system, answer }: { readonly system: string; readonly answer: ChatAnswer | null },
): Answered {
  const { said } = conversation;
  const read = answer === null ? null : readAnswer(answer.text, factsIn);
  const facts = (read?.value.items ?? []).map(({ text }) => ({
    text,
    origin: originOf(text, { told: toldIn(conversation), system }),
  }));
  const grounded = facts.filter(({ origin }) => origin === 'grounded').map(({ text }) => text);
  return {
    said,
    isUnusable: read === null,
    facts,
    told: conversation.facts.length,
    missed: missingIn(grounded, conversation).length,
    promptTokens: answer?.usage.promptTokens ?? 0,
    answerTokens: answer?.usage.completionTokens ?? 0,
  };
}

export function originOf(
  text: string,
  { told, system }: { readonly told: readonly string[]; readonly system: string },
): Origin {
  if (unsaidIn(text, told).length === 0) return 'grounded';
  return unsaidIn(text, [...told, system]).length === 0 ? 'copied' : 'invented';
}

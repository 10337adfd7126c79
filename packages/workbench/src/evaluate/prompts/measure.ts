import {
  type ChatAnswer,
  type ChatModel,
  EngineError,
  EXTRACT,
  EXTRACT_PLAIN,
  type ExtractInput,
  factsIn,
  type Prompt,
  readAnswer,
  userMessage,
} from '@slowwave/engine';
import { each } from '../../api.ts';
import { CONVERSATIONS, type Conversation, missingIn, toldIn } from '../../real-models/conversations.ts';
import { unsaidIn } from '../../real-models/unsaid.ts';

/** What one variant of the prompt made of all conversations. */
export interface Measured {
  readonly variant: string;
  readonly answers: readonly Answered[];
}

interface Answered {
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

const HEAD = [
  'model',
  'prompt',
  'examples',
  'sentences',
  'facts',
  'grounded',
  'copied',
  'invented',
  'missed',
  'unusable answers',
  'prompt tokens',
  'answer tokens',
];

/** The rows of one model, as they stand in docs/prompts.md. */
export const rowsOf = (model: string, measured: readonly Measured[]): readonly string[] =>
  measured.map(({ variant, answers }) => {
    const count = (of: (answer: Answered) => number): number => answers.reduce((sum, answer) => sum + of(answer), 0);
    const from = (origin: string): number =>
      count(({ facts }) => facts.filter((fact) => fact.origin === origin).length);
    const each = (of: (answer: Answered) => number): string =>
      Math.round(count(of) / answers.length).toLocaleString('en');
    return row([
      model,
      `version ${EXTRACT.version}`,
      variant,
      String(answers.length),
      String(count(({ facts }) => facts.length)),
      ...[from('grounded'), from('copied'), from('invented')].map(String),
      `${count(({ missed }) => missed)} of ${count(({ told }) => told)}`,
      String(count(({ isUnusable }) => Number(isUnusable))),
      each(({ promptTokens }) => promptTokens),
      each(({ answerTokens }) => answerTokens),
    ]);
  });

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const tableOf = (rows: readonly string[]): string =>
  `${[row(HEAD), row(HEAD.map(() => '---')), ...rows].join('\n')}\n`;

/** The page with the rows of a model in place of those it had, or behind all others. */
export function withRows(page: string, { model, rows }: { model: string; rows: readonly string[] }): string {
  const lines = page.split('\n');
  const head = lines.indexOf(row(HEAD));
  if (head < 0) throw new Error(`expected the table ${row(HEAD)} in docs/prompts.md, found none`);
  const end = lines.findIndex((line, i) => i > head && !line.startsWith('|'));
  const others = lines.slice(head + 2, end).filter((line) => !line.startsWith(`| ${model} |`));
  return [...lines.slice(0, head + 2), ...others, ...rows, ...lines.slice(end)].join('\n');
}

interface Variant {
  readonly name: string;
  readonly prompt: Prompt;
}

/** What introduces the examples, and one of them: each on a line of its own. */
const INTRODUCTION = /^Examples?\b/;
const EXAMPLE = /^\{.*\} gives \{.*\}$/;

/** The prompt that finds facts, with fewer examples and as it is. */
export const VARIANTS: readonly Variant[] = [
  { name: 'no example', prompt: EXTRACT_PLAIN },
  { name: 'one example', prompt: withExamples(EXTRACT, 1) },
  { name: 'as it is', prompt: EXTRACT },
];

/** A prompt with the first of its examples alone. */
export function withExamples(prompt: Prompt, count: number): Prompt {
  const lines = prompt.system.split('\n');
  const kept = new Set(lines.filter((line) => EXAMPLE.test(line)).slice(0, count));
  const system = lines.filter((line) => (INTRODUCTION.test(line) ? count > 0 : !EXAMPLE.test(line) || kept.has(line)));
  return { ...prompt, system: system.join('\n') };
}

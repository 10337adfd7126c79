import { ROOM_ADVICE, unknownChat } from '@slowwave/adapters/assemble';
import { ARE_YOU_THERE, type ChatCall, type ChatModel, EngineError, estimateTokens } from '@slowwave/engine';
import { limited, ok, SECOND_MS, secondsSince, type Trying, within } from './trial.ts';

/** Its answer has several hundred tokens. */
const COUNT: ChatCall = {
  name: 'count',
  system: 'count\nWrite all whole numbers from 1 to 300, each of them, in their order.',
  user: 'Count.\n{}',
  schema: {
    type: 'object',
    properties: { numbers: { type: 'array', items: { type: 'integer' } } },
    required: ['numbers'],
    additionalProperties: false,
  },
};
const LIMIT = 64; // tokens
/** A model that is held to the limit is done by then, unless it is very slow. */
const LIMIT_PATIENCE_MS = 20_000;
/** What answers are limited to at most. */
const LIMIT_MOST = 32_000; // tokens

/** Whether answers are held to a limit, and to which one. */
export async function isLimited(trying: Trying, model: string) {
  const { config, log } = trying;
  const { extraBody = {} } = config.chatServer;
  const own = LIMITS.find((name) => name in extraBody);
  if (own !== undefined) return ok(`${own} of SLOWWAVE_CHAT_EXTRA_BODY`);
  const { chat, takes } = await unknownChat(config, { model, log, maxOutputTokens: LIMIT });
  const answer = await within(trying, LIMIT_PATIENCE_MS, (signal) => chat.ask(COUNT, signal));
  const { limit } = takes();
  if (limit === 'none')
    return limited('refused', 'a model in a loop writes until its timeout, so set a limit at its server');
  if (answer === null)
    return limited(`still writing after ${LIMIT_PATIENCE_MS / SECOND_MS} s at a limit of ${LIMIT} tokens`, OTHER_LIMIT);
  const { completionTokens } = answer.usage;
  if (completionTokens > 2 * LIMIT)
    return limited(`wrote ${completionTokens} tokens at a limit of ${LIMIT}`, OTHER_LIMIT);
  return ok(`${limit} is obeyed${await mostOf(trying, model)}`);
}

const LIMITS = ['max_completion_tokens', 'max_tokens'];
const OTHER_LIMIT =
  'its server may ignore the limit, so put the one that it reads into SLOWWAVE_CHAT_EXTRA_BODY, such as {"max_tokens": 8000}';

async function mostOf({ config, log, cancel }: Trying, model: string): Promise<string> {
  const { chat, takes } = await unknownChat(config, { model, log, maxOutputTokens: LIMIT_MOST });
  await chat.ask(ARE_YOU_THERE, cancel);
  const { outputMax } = takes();
  return outputMax ? `, up to ${outputMax} tokens` : '';
}

/** Easy, but worth a thought. */
const MINUTES: ChatCall = {
  name: 'count_minutes',
  system: 'count_minutes\nHow many minutes does the journey take?',
  user: 'The train leaves at 9:40 and arrives at 11:05.\n{}',
  schema: {
    type: 'object',
    properties: { minutes: { type: 'integer' } },
    required: ['minutes'],
    additionalProperties: false,
  },
};
const THOUGHT_MIN = 60; // tokens

export async function thinks({ config, log, cancel }: Trying, model: string) {
  const { chat } = await unknownChat(config, { model, log });
  const startedAt = performance.now();
  const { text, usage } = await chat.ask(MINUTES, cancel);
  const answer = text.slice(text.lastIndexOf('</think>') + 1);
  const thought = usage.completionTokens - estimateTokens(answer);
  if (thought < THOUGHT_MIN) return ok('does not think before it answers');
  return limited(`thought for about ${thought} tokens (${secondsSince(startedAt)}) about a small question`, THINKS);
}

const THINKS =
  'this makes consolidations slow and dear, so limit it with SLOWWAVE_CHAT_EXTRA_BODY, such as {"reasoning_effort": "low"} or {"chat_template_kwargs": {"enable_thinking": false}}';

/** Prompts of consolidations have up to so many tokens, unless one batch alone is longer. */
const ROOM_WANTED = [2_000, 4_000, 9_000];
/** The next prompt would take at least twice as long. */
const ROOM_PATIENCE_MS = 15_000;
/** Consolidations begin with about as many tokens as the first prompt. */
const ROOM_MOST_MS = 30_000;

export async function hasRoom(trying: Trying, model: string) {
  const { chat } = await unknownChat(trying.config, { model, log: trying.log });
  let known = 0;
  for (const tokens of ROOM_WANTED) {
    const call = { ...ARE_YOU_THERE, system: `${ARE_YOU_THERE.system}\n${fillerOf(tokens)}` };
    const sent = estimateTokens(call.system + call.user);
    const startedAt = performance.now();
    const read = await within(trying, ROOM_MOST_MS, (signal) => readOf(chat, call, signal));
    if (read === 'refused') return limited(`refused a prompt of about ${sent} tokens`, ROOM_ADVICE);
    if (read === null) return known > 0 ? ok(`at least ${known} tokens`) : limited(tooSlow(sent), SLOW);
    if (read < sent * READ_SHARE)
      return limited(`read only ${read} of about ${sent} tokens, without saying so`, ROOM_ADVICE);
    known = read;
    if (performance.now() - startedAt > ROOM_PATIENCE_MS) break;
  }
  return ok(`at least ${known} tokens`);
}

const READ_SHARE = 0.6;

/** How many tokens of a prompt the model says it has read. */
async function readOf(chat: ChatModel, call: ChatCall, cancel: AbortSignal): Promise<number | 'refused'> {
  try {
    return (await chat.ask(call, cancel)).usage.promptTokens;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'context_too_long') return 'refused';
    throw error;
  }
}

const tooSlow = (tokens: number): string => `no answer to ${tokens} tokens within ${ROOM_MOST_MS / SECOND_MS} s`;
/** What to do about a model that takes long for what every consolidation asks. */
export const SLOW =
  'this model takes minutes for each consolidation, so choose a faster one, or set SLOWWAVE_MODEL_TIMEOUT_MS to 600000 or more';

const SENTENCE = 'The old harbour was quiet in the morning and the boats lay still. ';
const fillerOf = (tokens: number): string => SENTENCE.repeat(Math.ceil(tokens / estimateTokens(SENTENCE)));

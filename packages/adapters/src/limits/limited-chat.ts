import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Cancellation,
  type ChatCall,
  type ChatModel,
  EngineError,
  estimateTokens,
  type Limiter,
} from '@slowwave/engine';

/** A shorter wait is slept through where the work stands; a longer one gives the worker's place to others. */
const SLEEP_MAX_MS = 1_500;
/** Tokens an answer is thought to take before it is known. */
const ANSWER_TOKENS = 400;
/** A refusal without a time to come back: long enough to matter, short enough not to be noticed for long. */
const PAUSE_MS = 5_000;

/** A chat model that all workers together ask no more often than its provider allows. */
export function limitedChat(chat: ChatModel, limiter: Limiter): ChatModel {
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      const id = await admitted(limiter, chat.name, { tokens: estimateOf(call), cancel });
      try {
        const answer = await chat.ask(call, cancel);
        await limiter.settle(chat.name, id, answer.usage.promptTokens + answer.usage.completionTokens);
        return answer;
      } catch (error) {
        throw await refused(limiter, chat.name, error);
      }
    },
  };
}

const estimateOf = ({ system, user }: ChatCall): number =>
  estimateTokens(system) + estimateTokens(user) + ANSWER_TOKENS;

async function admitted(
  limiter: Limiter,
  model: string,
  { tokens, cancel }: { tokens: number; cancel: Cancellation },
): Promise<string> {
  for (;;) {
    const reservation = await limiter.reserve(model, tokens);
    if (reservation.kind === 'granted') return reservation.id;
    if (reservation.ms > SLEEP_MAX_MS || cancel.aborted) throw tooEarly(model, reservation.ms);
    await sleep(reservation.ms);
  }
}

const tooEarly = (model: string, ms: number, cause?: unknown): EngineError =>
  new EngineError(
    `${model} takes no more calls for ${Math.ceil(ms / 1000)} s by its provider's limits; the work waits`,
    {
      code: 'rate_limited',
      retryable: true,
      retryAfterMs: ms,
      countsAsTry: false,
      cause,
    },
  );

/** A provider that says "too many" says it to all workers at once. */
async function refused(limiter: Limiter, model: string, error: unknown): Promise<unknown> {
  if (!(error instanceof EngineError) || error.code !== 'model_overloaded') return error;
  const ms = error.retryAfterMs ?? PAUSE_MS;
  await limiter.pause(model, ms);
  return tooEarly(model, ms, error);
}

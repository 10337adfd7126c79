import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Cancellation,
  type ChatCall,
  type ChatModel,
  type Embedder,
  EngineError,
  estimateTokens,
  type Limiter,
  type Log,
} from '@slowwave/engine';

/** Tokens an answer is thought to take before it is known. */
const ANSWER_TOKENS = 400;
/** What an image is thought to take: providers count from a hundred to two thousand. */
const IMAGE_TOKENS = 1_000;

/** A chat model that all workers together ask no more often than its provider allows. */
export const limitedChat = (chat: ChatModel, { limiter, log }: { limiter: Limiter; log: Log }): ChatModel => ({
  name: chat.name,
  ask: (call, cancel) =>
    limited(
      { model: chat.name, limiter, log },
      {
        tokens: estimateOf(call),
        cancel,
        lastLook: call.lastLook,
        ask: () => chat.ask(call, cancel),
        used: ({ usage }) => usage.promptTokens + usage.completionTokens,
      },
    ),
});

const estimateOf = ({ system, user, schema, images = [] }: ChatCall): number =>
  [system, user, JSON.stringify(schema)].reduce((sum, text) => sum + estimateTokens(text), 0) +
  images.length * IMAGE_TOKENS +
  ANSWER_TOKENS;

/** An embedder that is left alone for as long as its provider asks for. */
export const limitedEmbedder = (embedder: Embedder, { limiter, log }: { limiter: Limiter; log: Log }): Embedder => ({
  fingerprint: embedder.fingerprint,
  dimensions: embedder.dimensions,
  embed: (texts, cancel) =>
    limited(
      { model: embedder.fingerprint, limiter, log },
      {
        tokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
        cancel,
        ask: () => embedder.embed(texts, cancel),
        used: ({ usage }) => usage.promptTokens,
      },
    ),
});

/** A shorter wait is slept through where the work stands; a longer one gives the worker's place to others. */
const SLEEP_MAX_MS = 1_500;
/** A refusal without a time to come back: long enough to matter, short enough not to be noticed for long. */
const PAUSE_MS = 5_000;
/** A provider that names a later time is asked then: it may be another account by now. */
const PAUSE_MAX_MS = 3_600_000;

interface Limited {
  readonly model: string;
  readonly limiter: Limiter;
  readonly log: Log;
}

interface LimitedCall<T> {
  /** What the call is thought to take. */
  readonly tokens: number;
  readonly cancel: Cancellation;
  /** When its waiting is over: where this throws, it is not made. */
  readonly lastLook?: (() => Promise<void>) | undefined;
  ask(): Promise<T>;
  /** What it really took. */
  used(answer: T): number;
}

/** Asks when there is room. A provider that says "too many" says it to everybody who shares the limiter. */
async function limited<T>({ model, limiter, log }: Limited, call: LimitedCall<T>): Promise<T> {
  /** What is told to the limiter after a call changes nothing about the call: its answer is not lost for it. */
  const told = async (telling: Promise<void>): Promise<void> => {
    await telling.catch((error: unknown) => log.warn({ model, error: String(error) }, 'could not count a model call'));
  };
  const id = await admitted({ model, limiter }, call);
  try {
    await call.lastLook?.();
  } catch (error) {
    await told(limiter.correct(model, id, 0));
    throw error;
  }
  try {
    const answer = await call.ask();
    await told(limiter.correct(model, id, call.used(answer)));
    return answer;
  } catch (error) {
    const ms = pauseAfter(error);
    if (ms === null) throw error;
    await told(limiter.pause(model, ms));
    throw refused(error, ms);
  }
}

async function admitted(
  { model, limiter }: Omit<Limited, 'log'>,
  { tokens, cancel }: Pick<LimitedCall<unknown>, 'tokens' | 'cancel'>,
): Promise<string> {
  for (;;) {
    const reservation = await limiter.reserve(model, tokens);
    if (reservation.kind === 'granted') return reservation.id;
    if (reservation.ms > SLEEP_MAX_MS || cancel.aborted) throw tooEarly(model, reservation.ms);
    await sleep(reservation.ms);
  }
}

const tooEarly = (model: string, ms: number): EngineError =>
  new EngineError(`the rate limits of ${model} allow no further call for ${Math.ceil(ms / 1000)} s; the work waits`, {
    code: 'rate_limited',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
  });

/** How long a provider that said "too many" is left alone; null when it said something else. */
function pauseAfter(error: unknown): number | null {
  if (!(error instanceof EngineError) || error.code !== 'model_overloaded') return null;
  return Math.min(error.retryAfterMs ?? PAUSE_MS, PAUSE_MAX_MS);
}

/** The provider's own words, for work that waits. */
const refused = (cause: unknown, ms: number): EngineError =>
  new EngineError(cause instanceof Error ? cause.message : String(cause), {
    code: 'model_overloaded',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
    cause,
  });

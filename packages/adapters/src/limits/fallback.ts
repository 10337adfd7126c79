import {
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  EngineError,
  type Log,
  SECONDS_COUNTED,
  wasAsked,
} from '@slowwave/engine';
import type { BreakingChat } from './breaking.ts';
import { steadyNow } from './memory-limiter.ts';

/** Chat models in the order in which they are asked. */
export type InOrder = readonly [first: BreakingChat, ...fallbacks: BreakingChat[]];

interface FallbackOptions {
  readonly log: Log;
  readonly now?: () => number;
}

/**
 * A chat model whose place others take while it is away, in their order. It goes by the name of the first, so that an answer of any
 * of them is an answer to the same question. What one of them has answered, usable or not, never passes a question on.
 */
export function fallbackChat(models: InOrder, { log, now = steadyNow }: FallbackOptions): ChatModel {
  const [first, ...fallbacks] = models;
  if (fallbacks.length === 0) return first;
  const refusals = refusing(now);
  let last: BreakingChat = first;

  const answered = (model: BreakingChat, answer: ChatAnswer): ChatAnswer => {
    refusals.answered(model);
    if (model !== last)
      log.info(
        { model: first.name, now: model.name },
        model === first ? 'a model is asked again' : 'a fallback is asked',
      );
    last = model;
    return model === first ? answer : { ...answer, asked: model.name };
  };

  /** Whether the next model may be asked after this. */
  const isPassedOn = ({ model, call, cancel }: Tried, error: EngineError): boolean =>
    refusals.isOver(model, error) ||
    isAway(error) ||
    (wasAsked(error, cancel) && error.code !== 'cancelled' && model.isLeftAlone(call.name)) ||
    (model !== first && isBeyond(error));

  const askOne = async (tried: Tried): Promise<ChatAnswer | Away> => {
    const { model, call, cancel } = tried;
    try {
      return answered(model, await model.ask(call, cancel));
    } catch (thrown) {
      if (!(thrown instanceof EngineError)) throw thrown;
      const error = named(thrown, model);
      if (!isPassedOn(tried, error)) throw error;
      const asked = wasAsked(error, cancel);
      if (asked) await call.passedOn?.(error);
      return { error, asked };
    }
  };

  return {
    name: first.name,
    ask: async (call, cancel) => {
      const away: Away[] = [];
      for (const model of models) {
        if (model !== first && (await call.mayStandIn?.(model.name)) === false) continue;
        const outcome = await askOne({ model, call, cancel });
        if ('text' in outcome) return outcome;
        away.push(outcome);
      }
      throw nobody(away);
    },
  };
}

interface Tried {
  readonly model: BreakingChat;
  readonly call: ChatCall;
  readonly cancel: Cancellation;
}

interface Away {
  readonly error: EngineError;
  /** It is counted already. */
  readonly asked: boolean;
}

/** It is left alone, or not even a connection to it comes about. */
const isAway = (error: EngineError): boolean => error.code === 'circuit_open' || isUnconnected(error);

const CONNECTING = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/u;

function isUnconnected({ code, cause }: EngineError): boolean {
  if (code !== 'model_unreachable') return false;
  for (let at = cause; at instanceof Error; at = at.cause)
    if ('code' in at && CONNECTING.test(String(at.code))) return true;
  return false;
}

/** What a fallback cannot bear waits for the others: the first may. */
const isBeyond = ({ retryable }: EngineError): boolean => !retryable;

/** Longer than any limit of one's own makes a question wait, in ms: a provider that names such a time is away. */
const AWAY_MS = SECONDS_COUNTED * 1_000;
/** For so long a provider may say "too many" and nothing else. */
const REFUSES_MS = 30_000;

/** Since when a model has refused every question because there were too many. */
function refusing(now: () => number) {
  const since = new Map<BreakingChat, number>();
  return {
    answered: (model: BreakingChat): void => void since.delete(model),
    /** Whether it has done so for too long, or will. */
    isOver: (model: BreakingChat, { code, retryAfterMs }: EngineError): boolean => {
      if (code !== 'model_overloaded' && code !== 'rate_limited') return false;
      const waits = retryAfterMs ?? 0;
      const begun = since.get(model);
      if (code === 'model_overloaded' && begun === undefined) since.set(model, now());
      return waits > AWAY_MS || (begun !== undefined && now() - begun >= REFUSES_MS);
    },
  };
}

/** The same failure, with the model that failed. */
const named = (error: EngineError, { name }: BreakingChat): EngineError =>
  new EngineError(error.message, {
    code: error.code,
    retryable: error.retryable,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
    countsAsTry: error.countsAsTry,
    written: error.written,
    read: error.read,
    model: name,
    cause: error.cause,
  });

/** Of one that says nothing of it, in ms. */
const AGAIN_MS = 5_000;

/** The work waits, and no try of it is lost: those that were asked are counted already. */
function nobody(away: readonly Away[]): EngineError {
  const [first, ...more] = away;
  if (first !== undefined && more.length === 0 && !first.asked) return first.error;
  const said = away.map(({ error }) => error.message).join('; ');
  return new EngineError(`neither the model nor its fallbacks are available; the work waits: ${said}`, {
    code: 'circuit_open',
    retryable: true,
    retryAfterMs: Math.min(...away.map(({ error }) => error.retryAfterMs ?? AGAIN_MS)),
    countsAsTry: false,
    cause: first?.error,
  });
}

import {
  ARE_YOU_THERE,
  admitCall,
  type Breaker,
  type BreakerPolicy,
  type Cancellation,
  type ChatAnswer,
  type ChatCall,
  type ChatModel,
  CLOSED_BREAKER,
  callFailed,
  callUndecided,
  type Embedder,
  EngineError,
  type EngineErrorCode,
  FencedError,
  type Log,
  type Millis,
  SECONDS_COUNTED,
  type Wondering,
  wasAsked,
  wonder,
} from '@slowwave/engine';
import { systemTools } from '../system/system.ts';
import { steadyNow } from './limited.ts';

/** Chat models in the order in which they are asked. */
type InOrder = readonly [first: BreakingChat, ...fallbacks: BreakingChat[]];

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

const POLICY: BreakerPolicy = {
  // Several times the tries one batch has: a batch that its provider cannot bear parks alone and stops nobody else.
  failures: 20,
  windowMs: 60_000,
  coolDownMs: 5_000,
  // How late a provider that is well again is noticed.
  coolDownMaxMs: 120_000,
};
/** Of a model that has fallbacks: a batch that fails has another try left for the next of them. */
export const FALLBACK_POLICY: BreakerPolicy = { ...POLICY, failures: 3, coolDownMaxMs: 60_000 };
/** A question costs next to nothing, and until it is asked searches go by words. */
const EMBEDDER_POLICY: BreakerPolicy = { ...POLICY, coolDownMaxMs: 20_000 };

/** What can be seen to be left alone. */
interface Breakable {
  /** How it stands with the questions that fail most. */
  breaker(): Breaker['kind'];
}

export interface BreakingChat extends ChatModel, Breakable {
  /** Whether questions of this name are not asked now. */
  isLeftAlone(name: string): boolean;
}
export interface BreakingEmbedder extends Embedder, Breakable {}

interface BreakingOptions {
  readonly log: Log;
  readonly policy?: BreakerPolicy;
  readonly now?: () => number;
  /** Learns for how long calls are paused, in ms; null: no longer. */
  readonly paused?: (ms: Millis | null) => void;
}

/**
 * A chat model that is left alone while it keeps failing.
 */
export function breakingChat(
  chat: ChatModel,
  {
    meter,
    ledger = null,
    policy = POLICY,
    ...options
  }: BreakingOptions & Pick<Wondering, 'meter'> & Partial<Pick<Wondering, 'ledger'>>,
): BreakingChat {
  const deps = { chat, meter, ledger, tools: systemTools };
  const { guarded, breaker, isLeftAlone } = breaking({
    ...{ ...options, policy, model: chat.name },
    askAnything: (cancel) => wonder(deps, cancel),
  });
  const ask: ChatModel['ask'] = (call, cancel) => guarded(call.name, cancel, () => chat.ask(call, cancel));
  return { ...chat, breaker, isLeftAlone, ask };
}

/** The same of an embedder. */
export function breakingEmbedder(
  embedder: Embedder,
  { policy = EMBEDDER_POLICY, ...options }: BreakingOptions,
): BreakingEmbedder {
  const { guarded, breaker } = breaking({
    ...{ ...options, policy, model: embedder.fingerprint },
    askAnything: (cancel) => embedder.embed([ARE_YOU_THERE.user], cancel),
  });
  return {
    ...embedder,
    breaker,
    embed: (texts, cancel) => guarded('embed', cancel, () => embedder.embed(texts, cancel)),
  };
}

interface Breaking extends BreakingOptions {
  readonly model: string;
  readonly policy: BreakerPolicy;
  /** As small as a question can be. */
  readonly askAnything: (cancel: Cancellation) => Promise<unknown>;
}

/**
 * A model that keeps failing is left alone by all work of this process: work waits without losing tries. The failure of a
 * probe counts as any other.
 *
 * Each kind of question is left alone by itself, and none while the model answers the smallest question there is: then it
 * is there, and what it fails on is the fault of what it was asked. Else one owner's texts, or one kind of work that it
 * cannot do, would stop everybody's.
 */
function breaking({ model, log, policy, now = steadyNow, askAnything, paused = () => {} }: Breaking) {
  const breakers = new Map<string, Breaker>();
  const breakerOf = (name: string): Breaker => breakers.get(name) ?? CLOSED_BREAKER;

  const guarded = async <T>(name: string, cancel: Cancellation, ask: () => Promise<T>): Promise<T> => {
    const admission = admitCall(breakerOf(name), now());
    if (admission.kind === 'wait') throw leftAlone(model, admission.ms);
    breakers.set(name, admission.breaker);
    const { probe } = admission;
    try {
      const answer = await ask();
      close(name);
      return answer;
    } catch (error) {
      await failed(error, { name, probe, cancel });
      throw error;
    }
  };

  function close(name: string): void {
    const { kind } = breakerOf(name);
    breakers.set(name, CLOSED_BREAKER);
    if (kind === 'closed') return;
    log.info({ model, call: name }, 'a model answers again');
    paused(null);
  }

  async function failed(error: unknown, { name, probe, cancel }: FailedCall): Promise<void> {
    const before = breakerOf(name);
    const shown = shownBy(error);
    if (shown === 'there') return close(name);
    if (shown === 'nothing') return void breakers.set(name, callUndecided(before, { probe, now: now() }));
    const after = callFailed(before, { probe, now: now() }, policy);
    breakers.set(name, after);
    if (after === before || after.kind !== 'open') return;
    if (await answersAnything(cancel)) return void breakers.set(name, CLOSED_BREAKER);
    log.warn({ model, call: name, from: before.kind }, 'a model keeps failing; calls to it are paused');
    paused(after.coolDownMs);
  }

  /** A refusal is an answer. */
  async function answersAnything(cancel: Cancellation): Promise<boolean> {
    try {
      await askAnything(cancel);
      return true;
    } catch (error) {
      return shownBy(error) === 'there';
    }
  }

  const breaker = (): Breaker['kind'] =>
    STANDINGS.findLast((kind) => [...breakers.values()].some((one) => one.kind === kind)) ?? 'closed';

  return { guarded, breaker, isLeftAlone: (name: string): boolean => breakerOf(name).kind !== 'closed' };
}

/** From the best to the worst. */
const STANDINGS = ['closed', 'half_open', 'open'] as const satisfies readonly Breaker['kind'][];

interface FailedCall {
  readonly name: string;
  readonly probe: boolean;
  readonly cancel: Cancellation;
}

/** The provider is away or broken, or refuses us whatever we ask. */
const BROKEN: readonly EngineErrorCode[] = [
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_misconfigured',
];
/** Shows nothing of the provider: it was not asked, or the caller hung up. */
const UNDECIDED: readonly EngineErrorCode[] = ['cancelled', 'rate_limited', 'queue_unavailable', 'ledger_unavailable'];

/** What an error shows of the provider; one that refuses is there. */
function shownBy(error: unknown): 'broken' | 'nothing' | 'there' {
  if (error instanceof FencedError) return 'nothing';
  const code = error instanceof EngineError ? error.code : 'internal';
  if (BROKEN.includes(code)) return 'broken';
  return UNDECIDED.includes(code) ? 'nothing' : 'there';
}

const leftAlone = (model: string, ms: number): EngineError =>
  new EngineError(`${model} keeps failing; calls to it are paused for ${Math.ceil(ms / 1000)} s; the work waits`, {
    code: 'circuit_open',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
  });

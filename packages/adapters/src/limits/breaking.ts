import {
  ARE_YOU_THERE,
  admitCall,
  type Breaker,
  type BreakerPolicy,
  type Cancellation,
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
  type Wondering,
  wonder,
} from '@slowwave/engine';
import { systemTools } from '../system/index.ts';
import { steadyNow } from './memory-limiter.ts';

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

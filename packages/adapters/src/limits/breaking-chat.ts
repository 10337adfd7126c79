import {
  admitCall,
  type Breaker,
  type BreakerPolicy,
  type ChatModel,
  CLOSED_BREAKER,
  callFailed,
  callUndecided,
  EngineError,
  type EngineErrorCode,
  FencedError,
  type Log,
} from '@slowwave/engine';
import { steadyNow } from './memory-limiter.ts';

const POLICY: BreakerPolicy = {
  // Several times the tries one batch has: a batch that its provider cannot bear parks alone and stops nobody else.
  failures: 20,
  windowMs: 60_000,
  coolDownMs: 5_000,
  // How late a provider that is well again is noticed.
  coolDownMaxMs: 120_000,
};

/** The provider is away or broken, or refuses us whatever we ask. */
const BROKEN: readonly EngineErrorCode[] = [
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_misconfigured',
];
/** Tells nothing of the provider: it was not asked, or the caller hung up. */
const UNDECIDED: readonly EngineErrorCode[] = ['cancelled', 'rate_limited', 'queue_unavailable', 'ledger_unavailable'];

/** A chat model that can be seen to be left alone. */
export interface BreakingChat extends ChatModel {
  breaker(): Breaker['kind'];
}

export interface BreakingOptions {
  readonly log: Log;
  readonly policy?: BreakerPolicy;
  readonly now?: () => number;
}

/**
 * A chat model that is left alone while it keeps failing, by all work of this process: work waits without losing
 * tries. The failure of a probe counts as any other.
 */
export function breakingChat(
  chat: ChatModel,
  { log, policy = POLICY, now = steadyNow }: BreakingOptions,
): BreakingChat {
  let breaker = CLOSED_BREAKER;
  const become = (next: Breaker): void => {
    const [from, to] = [breaker.kind, next.kind];
    breaker = next;
    if (from !== to && to === 'open')
      log.warn({ model: chat.name, from }, 'a model keeps failing; calls to it are paused');
    if (from !== to && to === 'closed') log.info({ model: chat.name }, 'a model answers again');
  };
  return {
    name: chat.name,
    breaker: () => breaker.kind,
    ask: async (call, cancel) => {
      const admission = admitCall(breaker, now());
      if (admission.kind === 'wait') throw leftAlone(chat.name, admission.ms);
      become(admission.breaker);
      const { probe } = admission;
      try {
        const answer = await chat.ask(call, cancel);
        become(CLOSED_BREAKER);
        return answer;
      } catch (error) {
        become(after(error, breaker, { probe, now: now() }));
        throw error;
      }
    },
  };

  /** What an error tells of the provider; one that refuses is there. */
  function after(error: unknown, before: Breaker, call: { probe: boolean; now: number }): Breaker {
    if (error instanceof FencedError) return callUndecided(before, call);
    const code = error instanceof EngineError ? error.code : 'internal';
    if (BROKEN.includes(code)) return callFailed(before, call, policy);
    return UNDECIDED.includes(code) ? callUndecided(before, call) : CLOSED_BREAKER;
  }
}

const leftAlone = (model: string, ms: number): EngineError =>
  new EngineError(`${model} keeps failing; calls to it are paused for ${Math.ceil(ms / 1000)} s; the work waits`, {
    code: 'circuit_open',
    retryable: true,
    retryAfterMs: ms,
    countsAsTry: false,
  });

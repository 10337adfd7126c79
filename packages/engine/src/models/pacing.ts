import type { EngineDeps } from '../deps.ts';
import type { EngineError } from '../errors.ts';
import type { ModelLimits } from '../ports/models.ts';
import type { Millis } from '../words.ts';

/**
 * Whether a provider that keeps failing is still asked.
 *
 *   closed     it is asked. Knows when the last failures in a row were.
 *              `failures` in a row within `windowMs` → open
 *   open       it is not asked before `until`.
 *              the first that asks from then on      → half_open, and asks as a probe
 *   half_open  one probe is under way; all others wait.
 *              the probe fails                       → open, for twice as long, up to `coolDownMaxMs`
 *              the probe brings no verdict           → open, and the next may probe at once
 * Any answer, also to a call begun earlier, → closed. Failures of calls begun earlier change nothing unless closed.
 */
export type Breaker =
  | { readonly kind: 'closed'; readonly failures: readonly Millis[] }
  | { readonly kind: 'open'; readonly until: Millis; readonly coolDownMs: Millis }
  | { readonly kind: 'half_open'; readonly coolDownMs: Millis };

export interface BreakerPolicy {
  readonly failures: number;
  readonly windowMs: Millis;
  readonly coolDownMs: Millis;
  readonly coolDownMaxMs: Millis;
}

type Admission =
  | { readonly kind: 'ask'; readonly probe: boolean; readonly breaker: Breaker }
  | { readonly kind: 'wait'; readonly ms: Millis };

export const CLOSED_BREAKER: Breaker = { kind: 'closed', failures: [] };

/** Whether somebody may ask now. */
export function admitCall(breaker: Breaker, now: Millis): Admission {
  switch (breaker.kind) {
    case 'closed':
      return { kind: 'ask', probe: false, breaker };
    case 'half_open':
      return { kind: 'wait', ms: breaker.coolDownMs };
    case 'open':
      if (now < breaker.until) return { kind: 'wait', ms: breaker.until - now };
      return { kind: 'ask', probe: true, breaker: { kind: 'half_open', coolDownMs: breaker.coolDownMs } };
  }
}

/** The provider did not answer, or only that it is broken. */
export function callFailed(
  breaker: Breaker,
  { probe, now }: { probe: boolean; now: Millis },
  policy: BreakerPolicy,
): Breaker {
  if (breaker.kind === 'half_open' && probe) return open(Math.min(breaker.coolDownMs * 2, policy.coolDownMaxMs), now);
  if (breaker.kind !== 'closed') return breaker;
  const failures = [...breaker.failures.filter((at) => at > now - policy.windowMs), now];
  return failures.length < policy.failures ? { kind: 'closed', failures } : open(policy.coolDownMs, now);
}

/** A call ended for another reason: nothing is known of the provider. */
export function callUndecided(breaker: Breaker, { probe, now }: { probe: boolean; now: Millis }): Breaker {
  if (breaker.kind !== 'half_open' || !probe) return breaker;
  return { kind: 'open', until: now, coolDownMs: breaker.coolDownMs };
}

const open = (coolDownMs: Millis, now: Millis): Breaker => ({ kind: 'open', until: now + coolDownMs, coolDownMs });

/** What was granted in one second. */
export interface SecondUse {
  readonly second: number;
  readonly requests: number;
  readonly tokens: number;
}

const SECOND_MS = 1_000;
/**
 * A window of 60 s touches 61 seconds of the clock, and calls take unequal times on their way to the provider, who
 * counts them when they arrive: one second more keeps apart what was granted a window apart.
 */
export const SECONDS_COUNTED = 62;

export const secondOf = (now: Millis): number => Math.floor(now / SECOND_MS);

/** The seconds that still count; those of a clock that was ahead do not. */
export const recent = (uses: readonly SecondUse[], now: Millis): readonly SecondUse[] =>
  uses.filter((use) => Math.abs(use.second - secondOf(now)) < SECONDS_COUNTED);

/**
 * How long to wait until one more call of so many tokens fits; 0: it fits now. A call larger than the whole limit is let
 * through when nothing else is counted: refusing it for ever would lose what it is for.
 */
export function waitFor(
  uses: readonly SecondUse[],
  limits: ModelLimits,
  call: { now: Millis; tokens: number },
): Millis {
  const counted = [...recent(uses, call.now)].sort((a, b) => a.second - b.second);
  const requestsMax = limits.requestsPerMinute ?? Number.POSITIVE_INFINITY;
  const tokensMax = Math.max(limits.tokensPerMinute ?? Number.POSITIVE_INFINITY, call.tokens);
  let requests = counted.reduce((sum, use) => sum + use.requests, 0);
  let tokens = counted.reduce((sum, use) => sum + use.tokens, 0);
  let freed: number | null = null;
  for (const use of counted) {
    if (requests + 1 <= requestsMax && tokens + call.tokens <= tokensMax) break;
    requests -= use.requests;
    tokens -= use.tokens;
    freed = use.second;
  }
  return freed === null ? 0 : (freed + SECONDS_COUNTED) * SECOND_MS - call.now;
}

/** Doubles with every try; lanes that failed together come back apart. What the provider asked for goes first. */
export function retryDelay(
  { settings, tools }: Pick<EngineDeps, 'settings' | 'tools'>,
  attempts: number,
  { retryAfterMs }: Pick<EngineError, 'retryAfterMs'>,
): number {
  const doubled = Math.min(settings.retryDelayMs * 2 ** attempts, settings.retryDelayMaxMs);
  const spread = Number.parseInt(tools.hash(tools.id('aud')).slice(0, 4), 16) / 0xffff;
  return Math.max(retryAfterMs ?? 0, Math.round(doubled * (0.5 + spread / 2)));
}

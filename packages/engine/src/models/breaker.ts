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

export type Admission =
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

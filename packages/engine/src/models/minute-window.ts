import type { ModelLimits } from '../ports/limiter.ts';
import type { Millis } from '../words.ts';

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

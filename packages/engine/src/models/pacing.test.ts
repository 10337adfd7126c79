import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  admitCall,
  type Breaker,
  CLOSED_BREAKER,
  callFailed,
  callUndecided,
  recent,
  type SecondUse,
  secondOf,
  waitFor,
} from './limits.ts';

const POLICY = { failures: 3, windowMs: 60_000, coolDownMs: 5_000, coolDownMaxMs: 15_000 };
const fail = (breaker: Breaker, now: number, probe = false): Breaker => callFailed(breaker, { probe, now }, POLICY);
const failures = (...moments: number[]): Breaker =>
  moments.reduce((breaker, now) => fail(breaker, now), CLOSED_BREAKER);
const opened = failures(0, 1, 2);
const probing: Breaker = { kind: 'half_open', coolDownMs: 5_000 };

describe('a breaker', () => {
  it('lets calls through until enough of them fail in a row', () => {
    expect(admitCall(failures(0, 1), 2)).toMatchObject({ kind: 'ask', probe: false });
    expect(opened).toEqual({ kind: 'open', until: 5_002, coolDownMs: 5_000 });
    expect(admitCall(opened, 2_002)).toEqual({ kind: 'wait', ms: 3_000 });
  });

  it('forgets failures that are long ago', () => {
    expect(failures(0, 1, 60_001)).toEqual({ kind: 'closed', failures: [60_001] });
  });

  it('lets one probe through after its time, and nobody else meanwhile', () => {
    expect(admitCall(opened, 5_002)).toEqual({ kind: 'ask', probe: true, breaker: probing });
    expect(admitCall(probing, 5_002)).toEqual({ kind: 'wait', ms: 5_000 });
  });

  it('waits twice as long after each probe that fails, up to a limit', () => {
    const twice = fail(probing, 6_000, true);
    expect(twice).toEqual({ kind: 'open', until: 16_000, coolDownMs: 10_000 });
    const again = admitCall(twice, 16_000);
    expect(again.kind === 'ask' && fail(again.breaker, 20_000, true)).toEqual({
      kind: 'open',
      until: 35_000,
      coolDownMs: 15_000,
    });
  });

  it('lets the next one probe when a probe tells nothing', () => {
    const free = callUndecided(probing, { probe: true, now: 7_000 });
    expect(admitCall(free, 7_000)).toMatchObject({ kind: 'ask', probe: true });
  });

  it('is not moved by what calls begun earlier end with', () => {
    expect(fail(opened, 100)).toEqual(opened);
    expect(fail(probing, 6_000)).toEqual(probing);
    expect(callUndecided(probing, { probe: false, now: 6_000 })).toEqual(probing);
    expect(callUndecided(CLOSED_BREAKER, { probe: false, now: 6_000 })).toEqual(CLOSED_BREAKER);
  });
});

const MINUTE = 60_000;
/** Calls that were granted apart may arrive this much closer together. */
const ON_THE_WAY = 1_000;
const call = fc.record({ gap: fc.integer({ min: 0, max: 4_000 }), tokens: fc.integer({ min: 1, max: 900 }) });

/** Grants calls as a limiter does, waiting as long as it is told; answers with the moments of all grants. */
function grant(calls: readonly { gap: number; tokens: number }[], limits: Parameters<typeof waitFor>[1]) {
  const uses: SecondUse[] = [];
  const granted: { at: number; tokens: number }[] = [];
  let now = 1_000_000;
  for (const { gap, tokens } of calls) {
    now += gap;
    for (let wait = waitFor(uses, limits, { now, tokens }); wait > 0; wait = waitFor(uses, limits, { now, tokens }))
      now += wait;
    uses.push({ second: secondOf(now), requests: 1, tokens });
    granted.push({ at: now, tokens });
  }
  return granted;
}

describe('the window of a minute', () => {
  it('never grants more than the limits in any 60 seconds, nor in what arrives as such', () => {
    const limits = { requestsPerMinute: 20, tokensPerMinute: 5_000 };
    fc.assert(
      fc.property(fc.array(call, { minLength: 30, maxLength: 120 }), (calls) => {
        const granted = grant(calls, limits);
        for (const { at } of granted) {
          const within = granted.filter((other) => other.at >= at && other.at < at + MINUTE + ON_THE_WAY);
          expect(within.length).toBeLessThanOrEqual(limits.requestsPerMinute);
          expect(within.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(limits.tokensPerMinute);
        }
      }),
    );
  });

  it('waits no longer than it takes for the needed room to be free', () => {
    const uses = [
      { second: 0, requests: 1, tokens: 10 },
      { second: 30, requests: 1, tokens: 10 },
    ];
    expect(waitFor(uses, { requestsPerMinute: 2, tokensPerMinute: null }, { now: 40_000, tokens: 5 })).toBe(22_000);
    expect(waitFor(uses, { requestsPerMinute: 3, tokensPerMinute: null }, { now: 40_000, tokens: 5 })).toBe(0);
  });

  it('lets a call through that is larger than the limit, once nothing else counts', () => {
    const limits = { requestsPerMinute: null, tokensPerMinute: 100 };
    expect(waitFor([], limits, { now: 0, tokens: 500 })).toBe(0);
    expect(waitFor([{ second: 0, requests: 1, tokens: 1 }], limits, { now: 0, tokens: 500 })).toBe(62_000);
  });

  it('forgets what is older than a minute', () => {
    expect(recent([{ second: 0, requests: 1, tokens: 1 }], 62_000)).toEqual([]);
  });
});

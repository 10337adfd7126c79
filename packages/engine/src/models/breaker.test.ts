import { describe, expect, it } from 'vitest';
import { admitCall, type Breaker, CLOSED_BREAKER, callFailed, callUndecided } from './pacing.ts';

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

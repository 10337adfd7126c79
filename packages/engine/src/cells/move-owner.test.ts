import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../words.ts';
import { afterLoss, afterStep, type MoveOutcome, type OwnerMove } from './move-owner.ts';
import { granted, LEAST_SHARE, partAssumed, partAt } from './shares.ts';

const COPY = { importId: 'imp_1', stamp: 'now' };
const move = (state: OwnerMove['state'], tries = 0): OwnerMove => ({
  ...{ id: 'mov_1', tenant: DEFAULT_TENANT, owner: { kind: 'user', id: 'ann' }, key: '0'.repeat(32) },
  ...{ source: 'a', destination: 'b', epoch: 1, attempt: 1, state, copy: COPY, tries, why: null, dueAt: 0 },
});
const stateOf = (next: OwnerMove | 'switched' | 'nowhere'): string => (typeof next === 'string' ? next : next.state);
const FAILED: MoveOutcome = { kind: 'failed', why: 'no answer' };

describe('an owner that moves', () => {
  it.each<[OwnerMove['state'], MoveOutcome, string]>([
    ['copying', { kind: 'copied', ...COPY }, 'departing'],
    ['copying', { kind: 'waits', why: 'work' }, 'copying'],
    ['copying', { kind: 'changed' }, 'copying'],
    ['copying', { kind: 'absent' }, 'leaving_off'],
    ['copying', FAILED, 'copying'],
    ['departing', { kind: 'departed' }, 'arriving'],
    ['departing', { kind: 'changed' }, 'copying'],
    ['departing', { kind: 'absent' }, 'leaving_off'],
    ['departing', FAILED, 'departing'],
    ['arriving', { kind: 'arrived' }, 'switched'],
    ['arriving', { kind: 'absent' }, 'nowhere'],
    ['arriving', FAILED, 'arriving'],
    ['leaving_off', { kind: 'thrown_away' }, 'given_up'],
    ['leaving_off', { kind: 'absent' }, 'nowhere'],
    ['leaving_off', FAILED, 'leaving_off'],
    ['recalling', { kind: 'thrown_away' }, 'given_up'],
    ['recalling', { kind: 'departed' }, 'switched'],
    ['recalling', { kind: 'absent' }, 'nowhere'],
    ['recalling', FAILED, 'recalling'],
  ])('%s, when it is answered %j, is %s', (state, outcome, next) => {
    expect(stateOf(afterStep(move(state), outcome, 0))).toBe(next);
  });

  it('is given up for failures only while it is copied: later it may have happened', () => {
    const states = (['copying', 'departing', 'arriving', 'leaving_off', 'recalling'] as const).map((state) =>
      stateOf(afterStep(move(state, 100), FAILED, 0)),
    );
    expect(states).toEqual(['leaving_off', 'departing', 'arriving', 'leaving_off', 'recalling']);
  });

  it.each([
    ['a', { copying: 'leaving_off', departing: 'arriving', arriving: 'arriving', recalling: 'given_up' }],
    ['b', { copying: 'given_up', departing: 'recalling', arriving: 'switched', leaving_off: 'given_up' }],
  ] as const)('ends without the cell %s once that is lost', (lost, nexts) => {
    for (const [state, next] of Object.entries(nexts))
      expect(stateOf(afterLoss(move(state as OwnerMove['state']), lost)), state).toBe(next);
    expect(afterLoss(move('departing'), 'a')).toMatchObject({ copy: COPY });
    expect(afterLoss(move('departing'), 'b')).toMatchObject({ copy: null });
  });
});

it('a share counts as held for as long as any lease lasts that its cell may have heard of', () => {
  const had = { cell: 'a', epoch: 3, part: 0.5, until: 1_000 };
  const asked = { cell: 'a', part: 0.25, after: 3 };
  expect(granted([had], { ...asked, until: 500 }, 0)).toMatchObject({ told: { until: 500 }, kept: { until: 1_000 } });
  expect(granted([had], { ...asked, until: 2_000 }, 0).kept).toMatchObject({ until: 2_000, part: 0.5 });
  expect(granted([{ ...had, until: null }], { ...asked, until: 2_000 }, 0).kept.until).toBeNull();
});

it('a share that is over by one clock counts as held until it is over by every clock', () => {
  const lease = { part: 0.5, until: 1_000_000 };
  expect(partAt(lease, 1_000_000)).toBe(LEAST_SHARE);
  expect(partAssumed(lease, 1_599_999)).toBe(0.5);
  expect(partAssumed(lease, 1_600_000)).toBe(LEAST_SHARE);
});

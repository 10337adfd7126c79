import { describe, expect, it } from 'vitest';
import type { AskedCall } from '../provider.ts';
import { checkPaid as check, type Disturbance } from './paid.ts';

const extract = (askedAt: number, answeredAt: number | null, given: Partial<AskedCall> = {}): AskedCall => ({
  number: 1,
  member: 'worker-1',
  name: 'extract_facts',
  hash: 'h1',
  texts: ['Thing 1 of ann is v1'],
  askedAt,
  answeredAt,
  ...given,
});
const decide = (askedAt: number, given: Partial<AskedCall> = {}): AskedCall =>
  extract(askedAt, null, { name: 'decide_operations', hash: 'h2', ...given });
const killed = (from: number, to: number): Disturbance => ({ kind: 'process killed', from, to });
/** The ledger has the answers of these numbers. */
const checkPaid = (calls: readonly AskedCall[], disturbances: readonly Disturbance[], kept = [1]) =>
  check(calls, { disturbances, isKept: ({ number }) => kept.includes(number) });

describe('a question that is asked twice', () => {
  it('was paid twice when nothing disturbed its answer', () => {
    const [finding] = checkPaid([extract(0, 100), extract(5_000, 5_100, { member: 'worker-2' })], []);
    expect(finding).toMatchObject({ kind: 'paid twice' });
    expect(finding?.what).toContain('answered to worker-1, was asked again by worker-2 4900 ms later');
  });

  it('is one finding, in the same words, also when something goes wrong afterwards', () => {
    const calls = [extract(0, 100), decide(120), extract(1_500, 1_600)];
    const before = [killed(-200, 300)];
    expect(checkPaid(calls, [...before, killed(3_000, 4_000)])).toEqual(checkPaid(calls, before));
  });

  it('was not when its process died before the answer could be stored, or before there was one', () => {
    expect(checkPaid([extract(0, 100), extract(5_000, 5_100)], [killed(150, 400)])).toEqual([]);
    expect(checkPaid([extract(0, null), extract(5_000, 5_100)], [])).toEqual([]);
  });

  it('was paid twice when its answer was kept, however much goes wrong afterwards', () => {
    expect(checkPaid([extract(0, 100), extract(5_000, 5_100)], [killed(1_400, 1_600)])).toHaveLength(1);
  });

  it('was not when its process died before it had kept it, however late that was', () => {
    expect(checkPaid([extract(0, 100), extract(5_000, 5_100)], [killed(1_400, 1_600)], [])).toEqual([]);
    expect(checkPaid([extract(0, 100), extract(5_000, 5_100)], [], [])).toHaveLength(1);
    expect(checkPaid([extract(0, 100), decide(120), extract(5_000, 5_100)], [killed(1_400, 1_600)], [])).toHaveLength(
      1,
    );
  });

  it('was paid twice all the same when the next step had begun', () => {
    const calls = [extract(0, 100), decide(120), extract(5_000, 5_100)];
    expect(checkPaid(calls, [killed(150, 400)])).toHaveLength(1);
  });

  it('was not when its facts were embedded while nothing could be stored', () => {
    const embed = decide(120, { name: 'embed', hash: 'h3' });
    expect(checkPaid([extract(0, 100), embed, extract(9_000, 9_100)], [killed(101, 10_000)], [])).toEqual([]);
  });

  it('was not when another worker had taken the lane over, and had just sent it when the answer was stored', () => {
    const again = (at: number) => [extract(0, 100), decide(120), extract(at, at + 100, { member: 'worker-2' })];
    expect(checkPaid(again(133), [])).toEqual([]);
    expect(checkPaid(again(230), [])).toHaveLength(1);
  });

  it('is not taken for the step of another, nor for that of another process', () => {
    const others = [decide(120, { texts: ['Thing 1 of bob is v1'] }), decide(130, { member: 'worker-2' })];
    expect(checkPaid([extract(0, 100), ...others, extract(5_000, 5_100)], [killed(150, 400)])).toEqual([]);
  });

  it('is two questions when two workers ask at the same time', () => {
    expect(checkPaid([extract(0, 3_000), extract(10, 3_010)], [])).toEqual([]);
  });
});

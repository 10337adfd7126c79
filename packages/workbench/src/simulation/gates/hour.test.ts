import { describe, expect, test } from 'vitest';
import { type HourOptions, simulateHour } from '../hour.ts';

/** A few cells in which as much goes wrong in minutes as elsewhere in weeks. */
const SMALL: HourOptions = {
  ...{ seed: '1', cells: 6, owners: 60, routers: 3, carriers: 3, minutes: 5, perDay: 20, newcomers: 3, few: 100 },
  ...{ singles: 120, slotsEvery: 5, lost: 0.01, faultEvery: 3, without: null },
};

describe('cells whose owners move while everything fails', () => {
  test('keep every owner in one place, with all that was accepted', async () => {
    const { world, load, lost } = await simulateHour(SMALL);
    expect(world.truth.findings()).toEqual([]);
    expect(world.truth.gaps().length).toBeGreaterThan(100);
    expect(load.again.moving).toBeGreaterThan(0);
    expect(lost).toBeGreaterThan(0);
    const again = await simulateHour(SMALL);
    expect([again.world.clock.happened(), again.load.again]).toEqual([world.clock.happened(), load.again]);
  });

  /** Each with a seed by which it comes out in so short a time. */
  test.each([
    { without: 'away', kind: 'second home', seed: '1' },
    { without: 'closed', kind: 'second home', seed: '1' },
    { without: 'stamp', kind: 'lost', seed: '1' },
    { without: 'hidden', kind: 'second home', seed: '1' },
    { without: 'keys', kind: 'doubled', seed: '11' },
    { without: 'lane', kind: 'no home', seed: '2', few: 12 },
  ] as const)('are found out without the rule "$without"', async ({ kind, ...changed }) => {
    const { world } = await simulateHour({ ...SMALL, ...changed });
    expect(world.truth.findings().map((finding) => finding.kind)).toContain(kind);
  });
});

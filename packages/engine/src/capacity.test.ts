import { describe, expect, test } from 'vitest';
import { ASKED, BYTES, BYTES_ASLEEP, capacityPlan, MEASURES, type Wanted } from './capacity.ts';

const SMALL: Wanted = { users: 50, messagesPerDay: 20, dimensions: 384, gap: 60, months: 12, asleep: 0 };
const planOf = (changed: Partial<Wanted> = {}) => capacityPlan({ ...SMALL, ...changed });
const count = (parts: ReturnType<typeof planOf>['stores'], name: string): number =>
  parts.find((part) => part.name === name)?.count ?? 0;

describe('a plan', () => {
  test('for few users is one process and two files', () => {
    const { setup, processes, disks } = planOf();
    expect(setup).toBe('one process');
    expect(processes).toEqual([expect.objectContaining({ name: 'standalone', count: 1 })]);
    const exchanges = 50 * 10 * 30;
    const { base, perDimension } = BYTES.sqlite.ledger;
    expect(disks[0]?.bytesPerMonth).toBeCloseTo(exchanges * (base + perDimension * 384));
    expect(disks[0]?.bytes).toBeCloseTo(12 * (disks[0]?.bytesPerMonth ?? 0));
  });

  test('grows from one process to one host, to several, to cells', () => {
    const setups = [50, 5_000, 60_000, 10_000_000].map((users) => planOf({ users }).setup);
    expect(setups).toEqual(['one process', 'one host', 'several hosts', 'cells']);
  });

  test('of several hosts has two of each process at least, and more where the load asks for them', () => {
    const { processes } = planOf({ users: 60_000 });
    expect(processes.map(({ name, count }) => [name, count])).toEqual([
      ['ingest', 2],
      ['worker', 2],
      ['search', 2],
      ['console', 2],
    ]);
    const { exchangesPerSecond, processes: many } = planOf({ users: 10_000_000 });
    const cores = (exchangesPerSecond.peak * MEASURES.searchMs.value) / 1_000 / MEASURES.utilisation.value;
    expect(count(many, 'search')).toBe(Math.ceil(cores));
  });

  test('of cells has routers and their directory, and no other has', () => {
    const { exchangesPerSecond, processes, stores } = planOf({ users: 10_000_000 });
    const cores = (exchangesPerSecond.peak * 2 * MEASURES.routeMs.value) / 1_000 / MEASURES.utilisation.value;
    expect([count(processes, 'router'), count(stores, 'directory of cells')]).toEqual([Math.ceil(cores), 1]);
    const several = planOf({ users: 60_000 });
    expect(count([...several.processes, ...several.stores], 'router')).toBe(0);
    expect(count(several.stores, 'directory of cells')).toBe(0);
  });

  test('puts the index beside the ledger while owners are small, and on Qdrant where they are not', () => {
    expect(count(planOf({ users: 60_000 }).stores, 'Qdrant')).toBe(0);
    const { stores } = planOf({ users: 60_000, messagesPerDay: 2_000 });
    expect(count(stores, 'Qdrant')).toBeGreaterThan(0);
    expect(stores.find(({ name }) => name === 'PostgreSQL')?.why).not.toContain('index');
  });

  test.each(ASKED.map(({ gap }) => gap))('asks as much as was measured at gaps of %s seconds', (limit) => {
    const gap = Number.isFinite(limit) ? limit : 3_600;
    const asked = ASKED.find((one) => one.gap === limit);
    const { tokensPerMonth } = planOf({ gap });
    const messages = 50 * 20 * 30;
    expect(tokensPerMonth.prompt).toBeCloseTo(messages * (asked?.promptTokens ?? 0));
    expect(tokensPerMonth.calls).toBeCloseTo(messages * (asked?.calls ?? 0));
  });

  test('never needs less of anything for more users', () => {
    let before = planOf({ users: 10_000 });
    for (let users = 20_000; users <= 1e9; users *= 2) {
      const after = planOf({ users });
      for (const { name, count: fewer } of before.setup === after.setup ? [...before.processes, ...before.stores] : [])
        expect(count([...after.processes, ...after.stores], name), `${name} for ${users}`).toBeGreaterThanOrEqual(
          fewer,
        );
      expect(after.tokensPerMonth.prompt).toBeGreaterThan(before.tokensPerMonth.prompt);
      before = after;
    }
  });

  test('takes what sleeps out of ledger and index, and into segments', () => {
    const [all, half] = [planOf({ users: 200_000 }), planOf({ users: 200_000, asleep: 0.5 })];
    const bytesOf = ({ disks }: typeof all, name: string): number =>
      disks.filter((disk) => disk.name.includes(name)).reduce((sum, { bytes }) => sum + bytes, 0);
    expect(bytesOf(half, 'PostgreSQL')).toBeCloseTo(bytesOf(all, 'PostgreSQL') / 2);
    expect(bytesOf(all, 'segments')).toBe(0);
    const exchanges = 200_000 * 10 * 30 * 12;
    const { base, perDimension } = BYTES_ASLEEP;
    const expected = 0.5 * (exchanges * (base + perDimension * 384) + 200_000 * MEASURES.laneAsleep.value);
    expect(bytesOf(half, 'segments')).toBeCloseTo(expected);
    expect(bytesOf(half, 'segments')).toBeLessThan(bytesOf(half, 'PostgreSQL') / 4);
    expect(half.exchangesPerSecond).toEqual(all.exchangesPerSecond);
    expect(half.tokensPerMonth).toEqual(all.tokensPerMonth);
  });
});

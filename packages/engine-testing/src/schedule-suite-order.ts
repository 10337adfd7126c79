import type { Millis, Nudge, Priority, Schedule, TenantId, TurnHandler, Verdict } from '@slowwave/engine';
import { expect, test, vi } from 'vitest';
import { newNudge } from './builders.ts';

/** What the tests of the order work with. */
export interface OrderBench {
  schedule(): Schedule;
  now(): Millis;
  /** Starts one worker that takes one turn at a time. */
  start(handler: TurnHandler): void;
}

const DONE: Verdict = { kind: 'done', next: null };
/** Beyond every wait of a schedule between two looks. */
const PATIENCE = { timeout: 50_000, interval: 10 };
const NOISY_LANES = 200;

/** In which order turns are taken. One at a time, so that there is one. */
export function describeOrder(bench: OrderBench): void {
  const turn = (tenant: string, lane: string, given: Partial<Nudge> = {}): Nudge =>
    newNudge(`lane_${lane}`, { tenant: tenant as TenantId, dueAt: bench.now(), ...given });
  const turns = (tenant: string, count: number, given: Partial<Nudge> = {}): Nudge[] =>
    Array.from({ length: count }, (_, i) => turn(tenant, `${tenant}${i}`, given));

  /** Starts a worker whose first turn waits for `go`; the lanes it takes after that, in their order. */
  const startHeld = async (handler: TurnHandler = async () => DONE) => {
    const taken: string[] = [];
    const go = Promise.withResolvers<void>();
    let begun = false;
    await bench.schedule().nudge([turn('first', 'first')]);
    bench.start(async (name, cancel) => {
      if (name.lane === 'lane_first') {
        begun = true;
        await go.promise;
        return DONE;
      }
      taken.push(name.lane.slice('lane_'.length));
      return handler(name, cancel);
    });
    await vi.waitFor(() => expect(begun).toBe(true), PATIENCE);
    return { taken, go: go.resolve, untilTaken: (count: number) => untilLength(taken, count) };
  };

  test('a tenant with hundreds of waiting turns delays the turn of another by no more than a few', async () => {
    const { taken, go, untilTaken } = await startHeld();
    await bench.schedule().nudge(turns('noisy', NOISY_LANES));
    await bench.schedule().nudge([turn('quiet', 'quiet')]);
    go();
    await untilTaken(NOISY_LANES + 1);
    expect(taken.indexOf('quiet')).toBeLessThanOrEqual(2);
  });

  test('turns of one tenant are taken as they came', async () => {
    const { taken, go, untilTaken } = await startHeld();
    const all = turns('noisy', 20);
    for (const one of all) await bench.schedule().nudge([one]);
    go();
    await untilTaken(20);
    expect(taken).toEqual(all.map(({ lane }) => lane.slice('lane_'.length)));
  });

  test('two tenants take turns', async () => {
    const { taken, go, untilTaken } = await startHeld();
    await bench.schedule().nudge(turns('a', 5));
    await bench.schedule().nudge(turns('b', 5));
    go();
    await untilTaken(10);
    expect(taken.map((lane) => lane[0]).join('')).toBe('ababababab');
  });

  test('a lane that goes on and on stands at the end again with every turn', async () => {
    const { taken, go, untilTaken } = await startHeld(async ({ lane, generation }) =>
      lane === 'lane_endless' && generation < 4
        ? { kind: 'done', next: turn('same', 'endless', { generation: generation + 1 }) }
        : DONE,
    );
    await bench.schedule().nudge([turn('same', 'endless'), ...turns('same', 6)]);
    go();
    await untilTaken(10);
    expect(taken.indexOf('endless', 1)).toBe(7);
    expect(taken.slice(7)).toEqual(['endless', 'endless', 'endless']);
  });

  test('turns that come due in one moment stand in line like all others', async () => {
    const { taken, go, untilTaken } = await startHeld();
    const soon = bench.now() + 300;
    await bench.schedule().nudge(turns('noisy', NOISY_LANES, { dueAt: soon }));
    await vi.waitFor(() => expect(bench.now()).toBeGreaterThan(soon + 100), PATIENCE);
    await bench.schedule().nudge([turn('quiet', 'quiet')]);
    go();
    await untilTaken(NOISY_LANES + 1);
    expect(taken.indexOf('quiet')).toBeLessThanOrEqual(2);
  });

  test('turns that were put off stand in line again once they are due', async () => {
    const again = new Set<string>();
    let at = 0;
    const { taken, go, untilTaken } = await startHeld(async ({ lane }) => {
      if (lane === 'lane_quiet' || again.has(lane)) return DONE;
      again.add(lane);
      return { kind: 'later', at };
    });
    await bench.schedule().nudge(turns('noisy', 50));
    at = bench.now() + 3_000;
    go();
    await untilTaken(50);
    const second = turn('second', 'hold');
    await vi.waitFor(() => expect(bench.now()).toBeGreaterThan(at), PATIENCE);
    await bench.schedule().nudge([second, turn('quiet', 'quiet')]);
    const before = taken.length;
    await untilTaken(102);
    expect(taken.indexOf('quiet') - before).toBeLessThanOrEqual(5);
  });

  const backfill: { priority: Priority } = { priority: 'backfill' };

  test('live turns go before backfill, whoever came first', async () => {
    const { taken, go, untilTaken } = await startHeld();
    await bench.schedule().nudge(turns('import', 20, backfill));
    await bench.schedule().nudge([...turns('a', 3), turn('import', 'live')]);
    go();
    await untilTaken(24);
    expect(new Set(taken.slice(0, 4))).toEqual(new Set(['a0', 'a1', 'a2', 'live']));
  });

  test('tenants take turns in backfill too', async () => {
    const { taken, go, untilTaken } = await startHeld();
    await bench.schedule().nudge(turns('a', 20, backfill));
    await bench.schedule().nudge(turns('b', 1, backfill));
    go();
    await untilTaken(21);
    expect(taken.indexOf('b0')).toBeLessThanOrEqual(2);
  });

  test('a turn of backfill that is hurried goes before all others, a live one cannot be', async () => {
    const { taken, go, untilTaken } = await startHeld();
    const old = turns('import', 3, backfill);
    const live = turns('a', 3);
    await bench.schedule().nudge([...old, ...live]);
    const [, second] = old;
    expect(second && (await bench.schedule().hurry(second))).toBe(true);
    expect(second && (await bench.schedule().hurry(second))).toBe(false);
    expect(live[2] && (await bench.schedule().hurry(live[2]))).toBe(false);
    expect(await bench.schedule().hurry(turn('a', 'unknown'))).toBe(false);
    go();
    await untilTaken(6);
    expect(taken[0]).toBe('import1');
    expect(taken.slice(1, 4)).toEqual(['a0', 'a1', 'a2']);
  });
}

const untilLength = (list: readonly unknown[], count: number): Promise<void> =>
  vi.waitFor(() => expect(list.length).toBeGreaterThanOrEqual(count), PATIENCE);

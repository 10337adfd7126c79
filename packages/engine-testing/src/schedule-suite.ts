import type { Cancellation, Millis, Nudge, Schedule, TurnHandler, TurnWorker, Verdict } from '@slowwave/engine';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newNudge } from './builders.ts';
import { describeOrder } from './schedule-suite-order.ts';

/** A schedule without any turns, and workers on it. */
export interface ScheduleFixture {
  readonly schedule: Schedule;
  startWorker(handler: TurnHandler, concurrency: number): TurnWorker;
  now(): Millis;
  /** Called after the schedule and its workers are closed. */
  close(): Promise<void>;
}

type Turn = Parameters<TurnHandler>[0];

const DONE: Verdict = { kind: 'done', next: null };
/** Beyond every wait of a schedule between two looks. */
const PATIENCE = { timeout: 50_000, interval: 10 };
const SOON_MS = 700;

/** What every schedule promises, whatever it is made of. */
export function describeSchedule(name: string, open: () => Promise<ScheduleFixture>): void {
  describe(`the schedule ${name}`, () => {
    let fixture: ScheduleFixture;
    let workers: TurnWorker[];
    let worked: Turn[];

    beforeEach(async () => {
      fixture = await open();
      workers = [];
      worked = [];
    });
    afterEach(async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await fixture.schedule.close();
      await fixture.close();
    });

    const nudge = (lane: string, generation = 1, inMs = 0): Nudge =>
      newNudge(`lane_${lane}`, { generation, dueAt: fixture.now() + inMs });
    const start = (handler: TurnHandler, concurrency = 1): TurnWorker => {
      const worker = fixture.startWorker(async (turn, cancel) => {
        worked.push(turn);
        return handler(turn, cancel);
      }, concurrency);
      workers.push(worker);
      return worker;
    };
    const timesOf = ({ lane, generation }: Nudge): number =>
      worked.filter((turn) => turn.lane === lane && turn.generation === generation).length;
    const untilWorked = (turn: Nudge, times = 1): Promise<void> =>
      vi.waitFor(() => expect(timesOf(turn)).toBeGreaterThanOrEqual(times), PATIENCE);
    const untilState = (turn: Nudge, state: string): Promise<void> =>
      vi.waitFor(async () => expect(await fixture.schedule.statesOf([turn])).toEqual([state]), PATIENCE);

    test('a nudged turn is handed to a worker with its lane and generation', async () => {
      start(async () => DONE);
      await fixture.schedule.nudge([nudge('a', 3)]);
      await untilWorked(nudge('a', 3));
      expect(worked).toEqual([{ lane: 'lane_a', generation: 3 }]);
    });

    test('turns nudged before any worker exists are worked once there is one', async () => {
      await fixture.schedule.nudge([nudge('a'), nudge('b')]);
      start(async () => DONE);
      await untilWorked(nudge('a'));
      await untilWorked(nudge('b'));
      expect(worked).toHaveLength(2);
    });

    test('a turn nudged several times is worked once', async () => {
      await Promise.all([fixture.schedule.nudge([nudge('a'), nudge('a')]), fixture.schedule.nudge([nudge('a')])]);
      start(async () => DONE);
      await untilState(nudge('a'), 'finished');
      await fixture.schedule.nudge([nudge('a'), nudge('last')]);
      await untilWorked(nudge('last'));
      expect(timesOf(nudge('a'))).toBe(1);
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['finished']);
    });

    test('two generations of a lane are two turns', async () => {
      start(async () => DONE);
      await fixture.schedule.nudge([nudge('a', 1), nudge('a', 2)]);
      await untilWorked(nudge('a', 1));
      await untilWorked(nudge('a', 2));
      expect(worked).toHaveLength(2);
    });

    test('a turn waits until it is due, and lets others pass', async () => {
      let begunAt = 0;
      const later = nudge('later', 1, SOON_MS);
      start(async (turn) => {
        if (turn.lane === later.lane) begunAt = fixture.now();
        return DONE;
      });
      await fixture.schedule.nudge([later, nudge('now')]);
      await untilWorked(nudge('now'));
      await untilWorked(later);
      expect(worked[0]?.lane).toBe('lane_now');
      expect(begunAt).toBeGreaterThanOrEqual(later.dueAt);
    });

    test('a turn that was put off comes again when it is due', async () => {
      const begun: Millis[] = [];
      let again = 0;
      start(async () => {
        begun.push(fixture.now());
        if (begun.length > 1) return DONE;
        again = fixture.now() + SOON_MS;
        return { kind: 'later', at: again };
      });
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a'), 2);
      expect(begun[1]).toBeGreaterThanOrEqual(again);
      await untilState(nudge('a'), 'finished');
    });

    test('the next turn of a turn that is done is worked', async () => {
      start(async ({ generation }) => ({ kind: 'done', next: generation < 3 ? nudge('a', generation + 1) : null }));
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a', 3));
      expect(worked.map((turn) => turn.generation)).toEqual([1, 2, 3]);
    });

    test('a parked turn ends, and its next turn is worked', async () => {
      start(async ({ generation }) =>
        generation === 1 ? { kind: 'parked', reason: 'poison', next: nudge('a', 2) } : DONE,
      );
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a', 2));
      await untilState(nudge('a', 1), 'finished');
      expect(timesOf(nudge('a', 1))).toBe(1);
    });

    test('failed turns of a lane are forgotten, those of others and what waits are not', async () => {
      start(async ({ generation }) => (generation < 3 ? { kind: 'parked', reason: 'poison', next: null } : DONE));
      const failed = [nudge('a', 1), nudge('a', 2), nudge('ab', 1)];
      await fixture.schedule.nudge(failed);
      for (const turn of failed) await untilState(turn, 'finished');
      const waits = nudge('a', 3, 30_000);
      await fixture.schedule.nudge([waits]);
      await fixture.schedule.forgetFailed([waits.lane]);
      const states = await fixture.schedule.statesOf([...failed, waits]);
      expect(states).toEqual(['absent', 'absent', 'finished', 'scheduled']);
    });

    test('a turn whose handler throws is worked again', async () => {
      start(async () => {
        if (worked.length === 1) throw new Error('a bug');
        return DONE;
      });
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a'), 2);
      await untilState(nudge('a'), 'finished');
      expect(timesOf(nudge('a'))).toBe(2);
    });

    test('the state of a turn is absent, scheduled, active, finished', async () => {
      const { promise, resolve } = Promise.withResolvers<Verdict>();
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['absent']);
      await fixture.schedule.nudge([nudge('a'), nudge('b', 1, SOON_MS)]);
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['scheduled']);
      expect(await fixture.schedule.statesOf([nudge('b')])).toEqual(['scheduled']);
      start(() => promise);
      await untilState(nudge('a'), 'active');
      resolve(DONE);
      await untilState(nudge('a'), 'finished');
      expect(await fixture.schedule.statesOf([nudge('a', 2)])).toEqual(['absent']);
    });

    test('as many turns run at a time as the concurrency says, and no more', async () => {
      const lanes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((lane) => nudge(lane));
      const gate = Promise.withResolvers<void>();
      let running = 0;
      let most = 0;
      start(async () => {
        running += 1;
        most = Math.max(most, running);
        if (running === 3) gate.resolve();
        await gate.promise;
        running -= 1;
        return DONE;
      }, 3);
      await fixture.schedule.nudge(lanes);
      for (const lane of lanes) await untilState(lane, 'finished');
      expect(most).toBe(3);
    });

    test('a closed worker hands its running turn back, and another one gets it', async () => {
      const first = start((_turn, cancel) => untilCancelled(cancel));
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a'));
      await first.close();
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['scheduled']);
      start(async () => DONE);
      await untilWorked(nudge('a'), 2);
      await untilState(nudge('a'), 'finished');
    });

    test('a turn that ends while its worker closes has ended', async () => {
      const worker = start(async (_turn, cancel) => {
        await untilCancelled(cancel).catch(() => {});
        return { kind: 'done', next: nudge('a', 2) };
      });
      await fixture.schedule.nudge([nudge('a')]);
      await untilWorked(nudge('a'));
      await worker.close();
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['finished']);
      expect(await fixture.schedule.statesOf([nudge('a', 2)])).toEqual(['scheduled']);
    });

    test('a closed worker takes no turns', async () => {
      const idle = start(async () => DONE);
      await idle.close();
      await fixture.schedule.nudge([nudge('a')]);
      expect(await fixture.schedule.statesOf([nudge('a')])).toEqual(['scheduled']);
      expect(worked).toEqual([]);
    });

    test('a thousand turns are nudged at once, and asked about at once', async () => {
      const many = Array.from({ length: 1_001 }, (_, i) => nudge(`n${i}`, 1, SOON_MS));
      await fixture.schedule.nudge(many);
      await fixture.schedule.nudge([]);
      expect(await fixture.schedule.statesOf([])).toEqual([]);
      const states = await fixture.schedule.statesOf([...many, nudge('none'), nudge('n0', 2)]);
      expect(states).toEqual([...many.map(() => 'scheduled'), 'absent', 'absent']);
    });

    test('a turn that is due in an hour sleeps', async () => {
      await fixture.schedule.nudge([nudge('a', 1, 3_600_000), nudge('b')]);
      expect(await fixture.schedule.statesOf([nudge('a'), nudge('b')])).toEqual(['asleep', 'scheduled']);
    });

    describeOrder({
      schedule: () => fixture.schedule,
      now: () => fixture.now(),
      start: (handler) => void start(handler),
    });

    test('a check passes while the queue answers', async () => {
      await expect(fixture.schedule.check()).resolves.toBeUndefined();
    });
  });
}

/** Rejects once the turn is cancelled, as a model call does. */
function untilCancelled(cancel: Cancellation): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('cancelled'));
    if (cancel.aborted) stop();
    else cancel.addEventListener('abort', stop, { once: true });
  });
}

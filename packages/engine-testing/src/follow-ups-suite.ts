import type { Cancellation, FollowUps, LaneId, StudyHandler, SummaryHandler, SummaryRefresh } from '@slowwave/engine';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

/** A place for follow-ups without any in it, and workers on it. */
export interface FollowUpsFixture {
  readonly followUps: FollowUps;
  startWorker(handler: SummaryHandler): { close(): Promise<void> };
  startStudies(handler: StudyHandler): { close(): Promise<void> };
  /** Called after the workers are closed. */
  close(): Promise<void>;
}

const PATIENCE = { timeout: 50_000, interval: 10 };

/** What every queue of follow-ups promises, whatever it is made of. */
export function describeFollowUps(name: string, open: () => Promise<FollowUpsFixture>): void {
  describe(`the follow-ups ${name}`, () => {
    let fixture: FollowUpsFixture;
    let workers: { close(): Promise<void> }[];
    let worked: SummaryRefresh[];

    beforeEach(async () => {
      fixture = await open();
      workers = [];
      worked = [];
    });
    afterEach(async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await fixture.close();
    });

    const start = (handler: SummaryHandler = async () => {}) => {
      const worker = fixture.startWorker(async (refresh, cancel) => {
        worked.push(refresh);
        await handler(refresh, cancel);
      });
      workers.push(worker);
      return worker;
    };
    const untilWorked = (times: number): Promise<void> =>
      vi.waitFor(() => expect(worked.length).toBeGreaterThanOrEqual(times), PATIENCE);

    test('a refresh that was asked for is handed to a worker', async () => {
      start();
      await fixture.followUps.summarize(refresh(20));
      await untilWorked(1);
      expect(worked).toEqual([refresh(20)]);
    });

    test('refreshes asked for before any worker exists are made once there is one', async () => {
      await fixture.followUps.summarize(refresh(20));
      await fixture.followUps.summarize(refresh(20, '2'));
      start();
      await untilWorked(2);
      expect(worked.map(({ scope }) => scope).sort()).toEqual(['1', '2']);
    });

    test('a refresh asked for several times is made once, one that covers more once more', async () => {
      await Promise.all([fixture.followUps.summarize(refresh(20)), fixture.followUps.summarize(refresh(20))]);
      start();
      await untilWorked(1);
      await fixture.followUps.summarize(refresh(20));
      await fixture.followUps.summarize(refresh(40));
      await untilWorked(2);
      expect(worked).toEqual([refresh(20), refresh(40)]);
    });

    test('a closed worker hands its running refresh back, and another one gets it', async () => {
      const first = start((_refresh, cancel) => untilCancelled(cancel));
      await fixture.followUps.summarize(refresh(20));
      await untilWorked(1);
      await first.close();
      start();
      await untilWorked(2);
      expect(worked).toEqual([refresh(20), refresh(20)]);
    });

    const study = (handler: StudyHandler): void => void workers.push(fixture.startStudies(handler));
    const asked = (lane: string): readonly LaneId[] => [lane as LaneId];

    test('studies asked for are made lane by lane, those asked for twice once', async () => {
      const studied: string[] = [];
      await fixture.followUps.study([...asked('lane_a'), ...asked('lane_b')]);
      await fixture.followUps.study(asked('lane_a'));
      study(async (lane) => {
        studied.push(lane);
        return null;
      });
      await vi.waitFor(() => expect(studied.length).toBeGreaterThanOrEqual(2), PATIENCE);
      expect(studied.sort()).toEqual(['lane_a', 'lane_b']);
    });

    test('a lane comes back when its study says so, and can be asked for again once it is done', async () => {
      let tries = 0;
      study(async () => {
        tries += 1;
        return tries === 1 ? vi.getRealSystemTime() + 50 : null;
      });
      await fixture.followUps.study(asked('lane_a'));
      await vi.waitFor(() => expect(tries).toBe(2), PATIENCE);
      await vi.waitFor(async () => {
        await fixture.followUps.study(asked('lane_a'));
        expect(tries).toBeGreaterThan(2);
      }, PATIENCE);
    });
  });
}

const refresh = (upTo: number, scope = '1'): SummaryRefresh => ({ lane: 'lane_a' as LaneId, scope, upTo });

/** Rejects once the refresh is cancelled, as a model call does. */
function untilCancelled(cancel: Cancellation): Promise<never> {
  return new Promise((_, reject) => {
    cancel.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });
}

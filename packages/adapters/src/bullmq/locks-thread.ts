import { hostThread, methodHost, notify } from '../system/thread-host.ts';
import type { HeldJob, LocksInit, LostLocks } from './locks.ts';
import { openRenewal } from './locks-renewal.ts';

/** More often than the jobs of dead workers are looked for, so that each look finds a lock that was just renewed. */
const RENEWALS_PER_LOCK = 6;

hostThread<LocksInit>(async ({ server, lockMs, beat, hungMs }) => {
  const held = new Map<string, HeldJob>();
  const renewal = await openRenewal(server, lockMs);
  const isAlive = pulseOf(new Int32Array(beat), hungMs);
  let isRenewing = false;

  const renew = async (): Promise<void> => {
    if (isRenewing || !isAlive() || held.size === 0) return;
    isRenewing = true;
    const queues = Map.groupBy(held.values(), ({ queue }) => queue);
    // A server that is away is reported by the queues themselves; its locks are renewed when it is back.
    await Promise.allSettled([...queues].map(([queue, jobs]) => renewOf(queue, jobs)));
    isRenewing = false;
  };
  const renewOf = async (queue: string, jobs: readonly HeldJob[]): Promise<void> => {
    const ids = new Set(await renewal.renew(queue, jobs, lockMs));
    const lost = jobs.filter((job) => ids.has(job.id) && held.get(keyOf(job)) === job);
    for (const job of lost) held.delete(keyOf(job));
    if (lost.length > 0) notify({ lost } satisfies LostLocks);
  };
  const renewing = setInterval(() => void renew(), lockMs / RENEWALS_PER_LOCK);

  return methodHost(
    {
      hold: (job: HeldJob) => void held.set(keyOf(job), job),
      release: (job: HeldJob) => void held.delete(keyOf(job)),
    },
    async () => {
      clearInterval(renewing);
      await renewal.close();
    },
  );
});

const keyOf = ({ queue, id, token }: HeldJob): string => `${queue} ${id} ${token}`;

/** Whether the main thread counts. Time in which the whole process was stopped passes too. */
function pulseOf(beats: Int32Array, hungMs: number): () => boolean {
  let last = -1;
  let since = 0;
  return () => {
    const now = performance.now();
    const count = Atomics.load(beats, 0);
    if (count !== last) [last, since] = [count, now];
    return now - since < hungMs;
  };
}

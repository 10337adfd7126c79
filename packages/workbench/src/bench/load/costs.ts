import { cpuTimes } from '../cpu.ts';

const MS_US = 1_000;

/** What of the processors a piece of work took. */
export interface Cost<T> {
  readonly value: T;
  /** The named processes, in ms. */
  readonly ms: number;
  /** The part of all processors that programs took which are neither those nor this one, 0 to 1. */
  readonly others: number;
}

/** Does a piece of work and says what it cost: unlike its speed, that hardly depends on what else the machine does. */
export async function costOf<T>(pids: readonly number[], work: () => Promise<T>): Promise<Cost<T>> {
  const [before, mine] = [await cpuTimes(pids), process.cpuUsage()];
  const value = await work();
  const [after, { user, system }] = [await cpuTimes(pids), process.cpuUsage(mine)];
  const ms = after.processes - before.processes;
  const busy = after.all - before.all - (after.idle - before.idle);
  const others = Math.max(0, busy - ms - (user + system) / MS_US) / Math.max(1, after.all - before.all);
  return { value, ms, others };
}

/** Per request, in µs. */
export const perRequest = ({ ms }: Cost<unknown>, requests: number): number => (ms * MS_US) / Math.max(1, requests);

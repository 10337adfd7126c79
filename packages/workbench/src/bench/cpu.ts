import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/** Time that processors have spent so far, in ms. */
interface CpuTimes {
  readonly all: number;
  readonly idle: number;
  /** By some processes. */
  readonly processes: number;
}

const TICK_MS = 10; // how Linux counts, on every machine there is

/** Of the machine, and of some processes where the system shows it (Linux). */
export async function cpuTimes(pids: readonly number[]): Promise<CpuTimes> {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const all = times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.irq + one.idle, 0);
  const processes = (await Promise.all(pids.map(timeOf))).reduce((sum, ms) => sum + ms, 0);
  return { all, idle, processes };
}

/** How busy the machine was in between, and what of it the processes took; `ms` is their time. */
export function cpuUse(before: CpuTimes, after: CpuTimes): { busy: number; ours: number; ms: number } {
  const all = Math.max(1, after.all - before.all);
  const ms = after.processes - before.processes;
  return { busy: 1 - (after.idle - before.idle) / all, ours: ms / all, ms };
}

async function timeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which stands in brackets: user time is the 12th field, system time the 13th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

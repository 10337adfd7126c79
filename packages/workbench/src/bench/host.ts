import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import type { Fleet } from '../fleet/fleet.ts';

/** Time of all processors so far, and what of it the machine's host gave to others, in ticks. */
interface HostTimes {
  readonly all: number;
  readonly stolen: number;
}

/** Where the system shows it: on Linux. */
export async function hostTimes(path = '/proc/stat'): Promise<HostTimes | null> {
  const stat = await readFile(path, 'utf8').catch(() => '');
  const [, counted] = /^cpu +(.*)$/m.exec(stat) ?? [];
  if (counted === undefined) return null;
  // user, nice, system, idle, iowait, irq, softirq, steal; what comes after them is counted in user already.
  const times = counted.split(' ').slice(0, 8).map(Number);
  return { all: times.reduce((sum, ticks) => sum + ticks, 0), stolen: times[7] ?? 0 };
}

const WORTH_TELLING = 0.02; // below it, figures differ more from run to run

/** What a reader of the figures should know of the machine's host, if anything. */
export function hostRemark(before: HostTimes | null, after: HostTimes | null): readonly string[] {
  if (before === null || after === null) return [];
  const share = (after.stolen - before.stolen) / Math.max(1, after.all - before.all);
  if (share < WORTH_TELLING) return [];
  const percent = (share * 100).toFixed(0);
  return [
    `The host of this machine kept ${percent}% of its processors for others meanwhile: repeat it when it does not.`,
  ];
}

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

const run = promisify(execFile);

/** All of a fleet, with its model in this process, on the first core, and its PostgreSQL, if it has one, alone on the second. */
export async function pinPostgresApart({ postgres, allPids }: Fleet): Promise<void> {
  const apart = new Set(await postgres?.pids());
  for (const pid of [process.pid, ...(await allPids())]) await pin(pid, apart.has(pid) ? 1 : 0);
}

/** With its threads. What it starts from then on stays there too. */
async function pin(pid: number, core: number): Promise<void> {
  await run('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}

const KIB = 1_024;

/** What a process has in memory, in bytes, where the system shows it (Linux); 0 elsewhere. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * KIB;
}

/** What processes have in memory together, in bytes: what several share counts once. 0 where the system does not show it. */
export async function sharedBytes(pids: readonly number[]): Promise<number> {
  const sizes = pids.map(async (pid) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) * KIB;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}

/** A sample of a Prometheus page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics of several programs, one list after the other. */
export async function scrape(urls: readonly string[]): Promise<readonly Sample[]> {
  const pages = await Promise.all(urls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return pages.flatMap((page) => page.split('\n').flatMap(sampleOf));
}

/** The sum of a metric over all programs and labels that are not named. */
export function total(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number {
  return samples
    .filter((one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);
}

function sampleOf(line: string): Sample[] {
  const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) return [];
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}

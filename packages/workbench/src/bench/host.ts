import { readFile } from 'node:fs/promises';

/** Time of all processors so far, and what of it the machine's host gave to others, in ticks. */
export interface HostTimes {
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

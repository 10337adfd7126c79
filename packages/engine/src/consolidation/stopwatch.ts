import type { MeasuredStep } from '../ports/meter.ts';
import type { Tools } from '../ports/tools.ts';

/** Adds up how long named pieces of work took, in milliseconds. */
export interface Stopwatch {
  time<T>(name: string, work: () => Promise<T>): Promise<T>;
  timings(): Readonly<Record<string, number>>;
}

/** `ended` learns of every piece of work as it ends. */
export function stopwatch(tools: Pick<Tools, 'now'>, ended: (step: MeasuredStep) => void): Stopwatch {
  const spent = new Map<string, number>();
  return {
    time: async (step, work) => {
      const startedAt = tools.now();
      let failed = true;
      try {
        const made = await work();
        failed = false;
        return made;
      } finally {
        const endedAt = tools.now();
        spent.set(step, (spent.get(step) ?? 0) + endedAt - startedAt);
        ended({ step, failed, startedAt, endedAt });
      }
    },
    timings: () => Object.fromEntries(spent),
  };
}

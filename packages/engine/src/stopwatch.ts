import type { Tools } from './ports/tools.ts';

/** Adds up how long named pieces of work took, in milliseconds. */
export interface Stopwatch {
  time<T>(name: string, work: () => Promise<T>): Promise<T>;
  timings(): Readonly<Record<string, number>>;
}

export function stopwatch(tools: Pick<Tools, 'now'>): Stopwatch {
  const spent = new Map<string, number>();
  return {
    time: async (name, work) => {
      const start = tools.now();
      try {
        return await work();
      } finally {
        spent.set(name, (spent.get(name) ?? 0) + tools.now() - start);
      }
    },
    timings: () => Object.fromEntries(spent),
  };
}

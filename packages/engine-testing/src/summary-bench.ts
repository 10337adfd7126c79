import { refreshSummary, type SummaryRefresh } from '@slowwave/engine';
import { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';

/** An engine whose summaries are refreshed as soon as they are asked for. */
export interface SummaryBench extends EngineBench {
  /** Every refresh that was asked for, in order. */
  readonly asked: readonly SummaryRefresh[];
  /** Resolves when nothing that was asked for is under way. */
  settled(): Promise<void>;
}

export async function summaryBench(options: Omit<BenchOptions, 'followUps'>): Promise<SummaryBench> {
  const asked: SummaryRefresh[] = [];
  let waiting: SummaryRefresh[] = [];
  const summarize = async (refresh: SummaryRefresh): Promise<void> => {
    asked.push(refresh);
    waiting.push(refresh);
  };
  const bench = await engineBench({
    ...options,
    followUps: { summarize, study: async () => {}, sleep: async () => {} },
  });
  const refresh = refreshSummary(bench.deps);
  const settled = async (): Promise<void> => {
    await turnsOfTheLoop();
    const begun = waiting;
    waiting = [];
    for (const due of begun) await refresh(due, NEVER);
  };
  const run = async () => {
    const verdicts = await bench.run();
    await settled();
    return verdicts;
  };
  return { ...bench, run, asked, settled };
}

/** A turn does not wait for what it asks for; this does. More awaits than the way to the queue has. */
async function turnsOfTheLoop(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await null;
}

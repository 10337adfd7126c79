import { type OpenEngine, observe, openEngine } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import {
  adoptIndex,
  DEFAULT_TENANT,
  draftBatch,
  type Millis,
  refreshSummary,
  takeTurn,
  type UsageTotals,
} from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import type { Said } from './mem0/mem0.ts';

/** What somebody says, and when: milliseconds since the beginning. */
export interface Post {
  readonly at: Millis;
  readonly user: string;
  readonly messages: readonly Said[];
}

/** Of all turns and summaries. */
export interface Spent extends UsageTotals {
  readonly consolidations: number;
}

/**
 * Consolidates what is posted as a worker with these settings would, on stores and models as they are, with a clock that goes on to
 * whatever comes next: a post, or a lane that falls due. Models answer in no time. Posts come in the order of their times.
 */
export async function consolidateInTime(config: Config, posts: readonly Post[]): Promise<Spent> {
  const log = createLog({ level: 'error', name: 'bench' });
  const observer = observe(config, { log, service: 'bench' });
  const engine = await openEngine(config, log, observer);
  try {
    return await run(engine, posts);
  } finally {
    for (const part of engine.parts) await part.close();
    await observer.close();
  }
}

async function run({ deps: opened }: OpenEngine, posts: readonly Post[]): Promise<Spent> {
  const began = opened.tools.now();
  let now = began;
  const deps = { ...opened, tools: { ...opened.tools, now: () => now } };
  const { ledger, settings } = deps;
  await adoptIndex(deps);
  const refreshes: Promise<void>[] = [];
  const summarize = async (refresh: Parameters<ReturnType<typeof refreshSummary>>[0]): Promise<void> => {
    refreshes.push(refreshSummary(deps)(refresh, NEVER));
  };
  const take = takeTurn({ ...deps, followUps: { summarize, study: async () => {}, sleep: async () => {} } });
  let consolidations = 0;
  /** Every lane that falls due until then has its turn when it does. */
  const goOnTo = async (end: Millis): Promise<void> => {
    for (;;) {
      const waiting = await ledger.lanes.withWork(null, posts.length);
      const next = waiting.toSorted((a, b) => a.dueAt - b.dueAt)[0];
      if (next === undefined || next.dueAt > end) break;
      now = Math.max(now, next.dueAt);
      await take(next, NEVER);
      await Promise.all(refreshes.splice(0));
      consolidations += 1;
    }
    if (Number.isFinite(end)) now = end;
  };
  const none = { key: null, timezone: null, ownAppOnly: false, tenant: DEFAULT_TENANT };
  for (const { at, user, messages } of posts) {
    await goOnTo(began + at);
    const body = { user_id: user, messages: [...messages], mode: 'decide' as const };
    await ledger.batches.append(draftBatch(deps.tools, { ...none, body }), settings.due);
  }
  await goOnTo(Number.POSITIVE_INFINITY);
  return { ...(await ledger.overview.usage(DEFAULT_TENANT)), consolidations };
}

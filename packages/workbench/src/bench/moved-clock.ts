import { type OpenEngine, observe, openEngine } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import {
  adoptIndex,
  DEFAULT_TENANT,
  draftBatch,
  type LaneId,
  type Millis,
  refreshSummary,
  type SleepSettings,
  sleepLane,
  sweepNights,
  takeTurn,
  type UsageTotals,
} from '@slowwave/engine';
import { NEVER } from '@slowwave/engine-testing';
import type { Said } from './mem0/mem0.ts';

const DAY_MS = 86_400_000;
/** Nobody says anything for so long before a night. */
const NIGHT_MS = DAY_MS / 3;

/** What somebody says, and when: milliseconds since the beginning. */
export interface Post {
  readonly at: Millis;
  readonly user: string;
  readonly messages: readonly Said[];
}

/** Of all turns and summaries, and of nights. */
export interface Spent extends UsageTotals {
  readonly consolidations: number;
  /** What each of the nights used that were asked for, one after the other. */
  readonly nights: readonly Slept[];
}

/** Of all users together. */
interface Slept {
  readonly calls: number;
  readonly tokens: number;
}

interface Nights {
  readonly acts: SleepSettings['acts'];
  /** One follows each day with posts, and so many more come at the end, without news. */
  readonly quiet: number;
}

/**
 * Consolidates what is posted as a worker with these settings would, on stores and models as they are, with a clock that goes on to
 * whatever comes next: a post, or a lane that falls due. Models answer in no time. Posts come in the order of their times. Nobody sleeps unless nights are asked for.
 */
export async function consolidateInTime(config: Config, posts: readonly Post[], nights?: Nights): Promise<Spent> {
  const log = createLog({ level: 'error', name: 'bench' });
  const observer = observe(config, { log, service: 'bench' });
  const engine = await openEngine(config, log, observer);
  try {
    return await run(engine, posts, nights);
  } finally {
    for (const part of engine.parts) await part.close();
    await observer.close();
  }
}

async function run({ deps: opened }: OpenEngine, posts: readonly Post[], nights?: Nights): Promise<Spent> {
  const began = opened.tools.now();
  let now = began;
  const deps = { ...opened, tools: { ...opened.tools, now: () => now } };
  const { ledger, settings } = deps;
  await adoptIndex(deps);
  if (nights !== undefined) {
    const rules = await ledger.settings.get(DEFAULT_TENANT);
    await ledger.settings.put(DEFAULT_TENANT, { ...rules, sleep: { ...rules.sleep, mode: 'auto', acts: nights.acts } });
  }
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
  const slept: Slept[] = [];
  const night = async (): Promise<void> => {
    await goOnTo(Number.POSITIVE_INFINITY);
    now += NIGHT_MS;
    const before = await ledger.overview.usage(DEFAULT_TENANT);
    const lanes: LaneId[] = [];
    await sweepNights(deps, { sleep: async (due) => void lanes.push(...due) });
    const sleep = sleepLane({ ...deps, slept: () => {}, takeOverMs: DAY_MS });
    for (const lane of lanes) await sleep(lane, NEVER);
    const after = await ledger.overview.usage(DEFAULT_TENANT);
    slept.push({ calls: after.calls - before.calls, tokens: tokensOf(after) - tokensOf(before) });
  };
  for (const { at, user, messages } of posts) {
    if (nights !== undefined && began + at - now > DAY_MS / 2) await night();
    await goOnTo(began + at);
    const body = { user_id: user, messages: [...messages], mode: 'decide' as const };
    await ledger.batches.append(draftBatch(deps.tools, { ...none, body }), settings.due);
  }
  await goOnTo(Number.POSITIVE_INFINITY);
  for (let i = 0; nights !== undefined && i <= nights.quiet; i += 1) await night();
  return { ...(await ledger.overview.usage(DEFAULT_TENANT)), consolidations, nights: slept };
}

const tokensOf = ({ promptTokens, completionTokens }: UsageTotals): number => promptTokens + completionTokens;

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attempted,
  claimDeliveries,
  DAY_MS,
  deliver,
  type EngineDeps,
  type ErasureQueue,
  type FollowUps,
  laneSweep,
  type Schedule,
  sweepErasures,
  sweepOutbox,
  sweepReplays,
  sweepRetention,
  sweepStudies,
  type WebhookSender,
} from '@slowwave/engine';

/** How often each sweep looks: what a lost nudge costs at most. */
const SWEEP_MS = 1_000;

/** What is kept for days needs no haste, and looking for it reads every memory of a tenant that forgets. */
const HOUR_MS = 3_600_000;

interface Place {
  readonly schedule: Schedule;
  readonly followUps: FollowUps;
  readonly erasures: ErasureQueue;
  readonly sender: WebhookSender;
  readonly attempted: (attempted: Attempted) => void;
  readonly webhookDays: number;
  readonly auditDays: number;
}

type Sweep = () => Promise<unknown>;

/** What a worker finds in the ledger by itself, whatever became of the queue's jobs: one line for each sweep. */
export function startSweeps(deps: EngineDeps, place: Place): { close(): Promise<void> } {
  const { ledger } = deps;
  const { schedule, followUps, erasures, webhookDays, auditDays } = place;
  const ending = new AbortController();
  const stopping = ending.signal;
  const webhooks = webhookDeliveries({ ...deps, ...place, stopping });
  const sweeps: Readonly<Record<string, Sweep>> = {
    lanes: laneSweep(deps, schedule),
    outbox: () => untilNothing((signal) => sweepOutbox(deps, signal), stopping),
    replays: () => sweepReplays({ ...deps, nudge: (nudges) => schedule.nudge(nudges) }, stopping),
    erasures: () => sweepErasures(deps, erasures),
    studies: () => sweepStudies(deps, followUps),
    webhooks: webhooks.sweep,
    retention: hourly(() => sweepRetention(deps, stopping)),
    deliveries: hourly(() =>
      dropOld(deps, { days: webhookDays, drop: (...old) => ledger.webhooks.forget(...old), stopping }),
    ),
    audit: hourly(() => dropOld(deps, { days: auditDays, drop: (...old) => ledger.trail.drop(...old), stopping })),
  };
  const sweeping = Object.entries(sweeps).map((sweep) => repeat(deps, stopping, sweep));
  return {
    close: async () => {
      ending.abort();
      await Promise.all(sweeping);
      await webhooks.close();
    },
  };
}

/** Runs again and again until stopped; a failure is logged and does not end it. */
async function repeat({ log }: EngineDeps, stopping: AbortSignal, [name, sweep]: [string, Sweep]): Promise<void> {
  while (!stopping.aborted) {
    await sweep().catch((error: unknown) => {
      if (stopping.aborted) return;
      log.warn({ sweep: name, error: String(error) }, 'a sweep failed; the next one is due in a second');
    });
    await sleep(SWEEP_MS, null, { signal: stopping }).catch(() => {});
  }
}

/** Does it the first time at once, then once an hour; after a failure again at once. */
function hourly(task: () => Promise<void>): () => Promise<void> {
  let next = 0;
  return async () => {
    if (performance.now() < next) return;
    await task();
    next = performance.now() + HOUR_MS;
  };
}

async function untilNothing(sweep: (stopping: AbortSignal) => Promise<number>, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await sweep(stopping)) > 0);
}

/** So many go in one transaction: a few milliseconds. */
const SLICE = 1_000;

/** Removes at most so many that are older than a moment; answers with how many. */
type Drop = (before: number, limit: number) => Promise<number>;

interface Old {
  readonly days: number;
  readonly drop: Drop;
  readonly stopping: AbortSignal;
}

/** Removes what is older than so many days, slice by slice. */
async function dropOld({ tools }: Pick<EngineDeps, 'tools'>, { days, drop, stopping }: Old): Promise<void> {
  const before = tools.now() - days * DAY_MS;
  while (!stopping.aborted && (await drop(before, SLICE)) === SLICE);
}

/** Deliveries under way at a time in one worker: they wait for others, and cost next to nothing. */
const AT_A_TIME = 16;
/** How long a free place stays unused at most while others are under way, in ms. */
const LOOK_AGAIN_MS = 500;
/** What is under way when the worker stops gets so long; what is not over then is sent again after its lease. */
const PATIENCE_MS = 3_000;

interface Deliveries extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  readonly sender: WebhookSender;
  readonly attempted: (attempted: Attempted) => void;
  readonly stopping: AbortSignal;
}

/** Sends what is due to webhooks, beside everything else a worker does. */
export function webhookDeliveries(given: Deliveries): { sweep(): Promise<void>; close(): Promise<void> } {
  const underWay = new Map<Promise<void>, string>();
  const someOver = () => Promise.race([...underWay.keys(), sleep(LOOK_AGAIN_MS)]);
  return {
    /** Until nothing is due and nothing is under way. */
    sweep: async () => {
      while (!given.stopping.aborted) {
        const free = AT_A_TIME - underWay.size;
        const claimed = free === 0 ? [] : await claimDeliveries(given, free, countsOf(underWay.values()));
        for (const one of claimed) {
          const sending = send(given, one).finally(() => underWay.delete(sending));
          underWay.set(sending, one.webhook.id);
        }
        if (underWay.size === 0) return;
        if (claimed.length < free || free === 0) await someOver();
      }
    },
    close: async () => {
      await Promise.race([Promise.all(underWay.keys()), sleep(PATIENCE_MS)]);
    },
  };
}

function countsOf(webhookIds: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const id of webhookIds) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

/** What could not be noted is sent again after its lease. */
async function send(given: Deliveries, claimed: Parameters<typeof deliver>[1]): Promise<void> {
  try {
    given.attempted(await deliver(given, claimed));
  } catch (error) {
    given.log.warn({ deliveryId: claimed.delivery.id, error: String(error) }, 'what came of a delivery was not noted');
  }
}

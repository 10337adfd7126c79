import { setTimeout as sleep } from 'node:timers/promises';
import { inOneSpace } from '@slowwave/adapters/assemble';
import {
  type Attempted,
  bulkSweep,
  CALLS_KEPT_MS,
  canarySweep,
  claimDeliveries,
  DAY_MS,
  dayOf,
  deliver,
  type EngineDeps,
  type ErasureQueue,
  type FollowUps,
  type IndexMoves,
  laneSweep,
  type Schedule,
  sweepEconomies,
  sweepErasures,
  sweepNights,
  sweepOutbox,
  sweepReplays,
  sweepRetention,
  sweepStudies,
  sweepUsual,
  type WebhookSender,
} from '@slowwave/engine';

/** How often each sweep runs: the longest delay after a lost nudge. */
const SWEEP_MS = 1_000;

/** A turn projects what it has applied, within milliseconds as a rule: only what is left after this is swept up. */
const PROJECTED_BY_TURNS_MS = 3_000;

/** Retention is counted in days and not urgent, and a sweep reads every memory of a tenant that forgets. */
const HOUR_MS = 3_600_000;

/** Idle owners are waited for by the hour, and looking for them reads all owners of a tenant. */
const NIGHTS_MS = 10_000;

/** Who sleeps is counted in days. A sweep looks at all owners. */
const COLD_MS = 10 * 60_000;

/** A day that has ended or a raised budget is seen at the next consolidation anyway. */
const ECONOMIES_MS = 30_000;

interface Place {
  readonly moves: Pick<IndexMoves, 'work'>;
  /** null: nobody sleeps. */
  readonly cold: { sweep(stopping: AbortSignal): Promise<void> } | null;
  readonly schedule: Schedule;
  readonly followUps: FollowUps;
  readonly erasures: ErasureQueue;
  readonly sender: WebhookSender;
  readonly attempted: (attempted: Attempted) => void;
  readonly webhookDays: number;
  readonly auditDays: number;
  readonly receiptDays: number;
}

type Sweep = () => Promise<unknown>;

/** Restores from the ledger what the queue has lost: one line per sweep. */
export function startSweeps(deps: EngineDeps, place: Place): { close(): Promise<void> } {
  const { ledger } = deps;
  const { moves, cold, schedule, followUps, erasures, webhookDays, auditDays, receiptDays } = place;
  const ending = new AbortController();
  const stopping = ending.signal;
  const bulk = bulkSweep({ ...deps, nudge: schedule.nudge });
  const canaries = canarySweep({ ...deps, nudge: schedule.nudge });
  const webhooks = webhookDeliveries({ ...deps, ...place, stopping });
  const sweeps: Readonly<Record<string, Sweep>> = {
    lanes: laneSweep(deps, schedule),
    bulk: () => bulk(stopping),
    bulkOver: every(HOUR_MS, () =>
      dropOld(deps, { days: BULK_DAYS, drop: (...old) => ledger.bulk.drop(...old), stopping }),
    ),
    outbox: () => untilNothing((signal) => sweepOutbox(deps, signal, { leftMs: PROJECTED_BY_TURNS_MS }), stopping),
    replays: () => sweepReplays({ ...deps, nudge: schedule.nudge, forgetFailed: schedule.forgetFailed }, stopping),
    canaries: () => canaries(stopping),
    erasures: () => sweepErasures(deps, erasures),
    studies: () => sweepStudies(deps, followUps),
    ...(cold !== null && { cold: every(COLD_MS, () => cold.sweep(stopping)) }),
    economies: every(ECONOMIES_MS, () => sweepEconomies(deps)),
    usual: onceADay(deps, () => sweepUsual(deps)),
    nights: every(NIGHTS_MS, () => sweepNights(deps, followUps)),
    webhooks: webhooks.sweep,
    move: () => untilNothing(async (signal) => Number(await moves.work(signal)), stopping),
    retention: every(HOUR_MS, () => sweepRetention(deps, stopping)),
    deliveries: every(HOUR_MS, () =>
      dropOld(deps, { days: webhookDays, drop: (...old) => ledger.webhooks.forget(...old), stopping }),
    ),
    audit: every(HOUR_MS, () =>
      dropOld(deps, { days: auditDays, drop: (...old) => ledger.trail.drop(...old), stopping }),
    ),
    tellings: every(HOUR_MS, () =>
      dropOld(deps, { days: TOLD_DAYS, drop: (...old) => ledger.present.forgetTold(...old), stopping }),
    ),
    calls: every(HOUR_MS, () =>
      dropOld(deps, { days: CALLS_KEPT_MS / DAY_MS, drop: (...old) => ledger.usage.drop(...old), stopping }),
    ),
    /** Their time is their own. */
    away: every(HOUR_MS, () => dropOld(deps, { days: 0, drop: (...old) => ledger.departures.drop(...old), stopping })),
    receipts: every(HOUR_MS, () =>
      dropOld(deps, { days: receiptDays, drop: (...old) => ledger.receipts.drop(...old), stopping }),
    ),
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

/** How often a failure that stays the same is logged: with a store away, every sweep fails every second. */
const FAILURE_LOGGED_EVERY_MS = 60_000;
const NONE = { error: '', loggedAt: 0 };

/** Runs again and again until stopped. A failure is logged and does not end it; so is the first success after one. */
export async function repeat(
  { log }: Pick<EngineDeps, 'log'>,
  stopping: AbortSignal,
  [name, sweep]: [string, Sweep],
): Promise<void> {
  let failure = NONE;
  while (!stopping.aborted) {
    try {
      await inOneSpace(sweep);
      if (failure !== NONE) log.info({ sweep: name }, 'the sweep works again');
      failure = NONE;
    } catch (cause) {
      const [error, now] = [String(cause), performance.now()];
      const isKnown = failure.error === error && now - failure.loggedAt < FAILURE_LOGGED_EVERY_MS;
      if (!(isKnown || stopping.aborted)) {
        log.warn({ sweep: name, error }, 'a sweep failed; it is tried again every second');
        failure = { error, loggedAt: now };
      }
    }
    await sleep(SWEEP_MS, null, { signal: stopping }).catch(() => {});
  }
}

/** Runs a task at once and then after each pause; after a failure, at once again. */
function every(pauseMs: number, task: () => Promise<unknown>): () => Promise<void> {
  let next = 0;
  return async () => {
    if (performance.now() < next) return;
    await task();
    next = performance.now() + pauseMs;
  };
}

/** Runs a task at once, and when another day (UTC) has begun. */
function onceADay({ tools }: Pick<EngineDeps, 'tools'>, task: () => Promise<unknown>): () => Promise<void> {
  let done: number | null = null;
  return async () => {
    const day = dayOf(tools.now());
    if (day === done) return;
    await task();
    done = day;
  };
}

async function untilNothing(sweep: (stopping: AbortSignal) => Promise<number>, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await inOneSpace(() => sweep(stopping))) > 0);
}

/** A conversation that is taken up later begins anew: no provider keeps its prompt for so long. */
const TOLD_DAYS = 2;

/** What a job asked is known to be asked as long as its consolidation may still be tried. */
const BULK_DAYS = 7;

/** Rows per transaction, which then takes a few milliseconds. */
const SLICE = 1_000;

/** Removes at most `limit` rows older than a moment. Returns how many. */
type Drop = (before: number, limit: number) => Promise<number>;

interface Old {
  readonly days: number;
  readonly drop: Drop;
  readonly stopping: AbortSignal;
}

/** Removes what is older than a number of days, slice by slice. */
async function dropOld({ tools }: Pick<EngineDeps, 'tools'>, { days, drop, stopping }: Old): Promise<void> {
  const before = tools.now() - days * DAY_MS;
  while (!stopping.aborted && (await drop(before, SLICE)) === SLICE);
}

/** Concurrent deliveries of one worker: they mostly wait and cost next to nothing. */
const AT_A_TIME = 16;
/** The longest time a free place stays unused while other deliveries are running, in ms. */
const LOOK_AGAIN_MS = 500;
/** How long running deliveries may take when the worker stops, in ms. Others are sent again after their lease. */
const PATIENCE_MS = 3_000;

interface Deliveries extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  readonly sender: WebhookSender;
  readonly attempted: (attempted: Attempted) => void;
  readonly stopping: AbortSignal;
}

/** Sends due deliveries to webhooks, alongside all other work. */
export function webhookDeliveries(given: Deliveries): { sweep(): Promise<void>; close(): Promise<void> } {
  const underWay = new Map<Promise<void>, string>();
  const someOver = () => Promise.race([...underWay.keys(), sleep(LOOK_AGAIN_MS)]);
  return {
    /** Until nothing is due and nothing is running. */
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

/** If the outcome cannot be recorded, the delivery is sent again after its lease. */
async function send(given: Deliveries, claimed: Parameters<typeof deliver>[1]): Promise<void> {
  try {
    given.attempted(await deliver(given, claimed));
  } catch (error) {
    given.log.warn(
      { deliveryId: claimed.delivery.id, error: String(error) },
      'could not record the outcome of a delivery; it will be sent again',
    );
  }
}

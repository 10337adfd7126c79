import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attempted,
  claimDeliveries,
  DAY_MS,
  deliver,
  type EngineDeps,
  type WebhookSender,
} from '@slowwave/engine';

/** So many go in one transaction: a few milliseconds. */
const SLICE = 1_000;

/** Removes at most so many that are older than a moment; answers with how many. */
export type Drop = (before: number, limit: number) => Promise<number>;

interface Old {
  readonly days: number;
  readonly drop: Drop;
  readonly stopping: AbortSignal;
}

/** Removes what is older than so many days, slice by slice. */
export async function dropOld({ tools }: Pick<EngineDeps, 'tools'>, { days, drop, stopping }: Old): Promise<void> {
  const before = tools.now() - days * DAY_MS;
  while (!stopping.aborted && (await drop(before, SLICE)) === SLICE);
}

/** Deliveries under way at a time in one worker: they wait for others, and cost next to nothing. */
const AT_A_TIME = 16;
/** How long a free place stays unused at most while others are under way, in ms. */
const LOOK_AGAIN_MS = 500;
/** What is under way when the worker stops gets so long; what is not over then is sent again after its lease. */
const PATIENCE_MS = 3_000;

interface Given extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  readonly sender: WebhookSender;
  readonly attempted: (attempted: Attempted) => void;
  readonly stopping: AbortSignal;
}

/** Sends what is due to webhooks, beside everything else a worker does. */
export function webhookDeliveries(given: Given): { sweep(): Promise<void>; close(): Promise<void> } {
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
async function send(given: Given, claimed: Parameters<typeof deliver>[1]): Promise<void> {
  try {
    given.attempted(await deliver(given, claimed));
  } catch (error) {
    given.log.warn({ deliveryId: claimed.delivery.id, error: String(error) }, 'what came of a delivery was not noted');
  }
}

import type { EngineDeps } from '../deps.ts';
import type { Erasure } from '../ports/ledger/erasures.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { ErasureHandler, ErasureQueue } from '../ports/writers.ts';
import type { LaneId, Millis } from '../words.ts';
import { forgetInReplays } from './request.ts';

/** Rows of one kind that go in one transaction: a few milliseconds, so that others can write in between. */
const SLICE = 50;
/** More are open at once only where a whole tenant goes; the rest comes with the next pass. */
const OPEN_MAX = 100;
/** Somebody still reads what was there before: a backup, a slow query. */
const COMPACT_AGAIN_MS = 2_000;
/** Erasures that run at the same time are compacted together, but none waits longer than this for the others. */
const TOGETHER_MS = 60_000;

/** For so long a provider is waited for that has a batch job with words of who is erased. */
const PROVIDER_MS = 10 * 60_000;
const AT_PROVIDER = 'the model provider still has a file of a batch job; Slowwave deletes it when the job has ended';

/**
 * How long an index may still be written to by who read the ledger before the lane was cut off. Who writes later takes it
 * back; only who dies right between the two would leave something, and this is longer than one write takes.
 */
const SETTLE_MS = 10_000;

type ErasureDeps = Pick<EngineDeps, 'ledger' | 'index' | 'tools' | 'log'> & {
  /** Objects of owners that sleep, or have slept. Missing: nobody ever does. */
  readonly segments?: SegmentErasing;
};

export interface SegmentErasing {
  /** All objects of a lane are gone when it resolves, and the erasure has counted them. */
  erase(lane: LaneId, erasure: string): Promise<void>;
  /** What stays of deleted objects, for people. */
  remains(): Promise<readonly string[]>;
}

/** Asks for the erasures the ledger knows of: after a job that was lost, or a queue that was wiped. */
export async function sweepErasures({ ledger }: Pick<EngineDeps, 'ledger'>, queue: ErasureQueue): Promise<number> {
  const open = await ledger.erasures.open(OPEN_MAX);
  if (open.length > 0) await queue.erase(open.map(({ id }) => id));
  return open.length;
}

/**
 * What a worker does with one erasure: every step can be done again, by anybody, at any time. The index goes first, so
 * that nothing is found any more, and last, when nobody can be writing to it any more. The same of an owner that departed.
 */
export const eraseOwner = (
  deps: ErasureDeps & { readonly queue: ErasureQueue; readonly settleMs?: number },
): ErasureHandler => {
  const begunAt = beginnings();
  return async (id, cancel) => {
    const { ledger, tools, queue, settleMs = SETTLE_MS } = deps;
    const open = await ledger.erasures.open(OPEN_MAX);
    const erasure = open.find((one) => one.id === id);
    if (erasure === undefined) return null;
    const since = begunAt(open, erasure, tools.now());
    const { owner, lane, tenant } = erasure;
    if (owner !== null && lane !== null) {
      await deps.index.forget({ tenant, owner, lane });
      await forgetInReplays(deps, tenant, owner);
      await ledger.bulk.cancel(lane, tools.now());
      await deps.segments?.erase(lane, id);
      await eraseRows(deps, id, cancel);
      await queue.forgetLane(lane);
      const settled = since + settleMs;
      if (tools.now() < settled) return settled;
      await deps.index.forget({ tenant, owner, lane });
      await forgetInReplays(deps, tenant, owner);
    }
    if (erasure.state !== 'compacting') {
      await forgetInTrail(deps, id, cancel);
      await ledger.erasures.forgetOwner(id);
    }
    if (erasure.departed) return null;
    return compact(deps, erasure, since);
  };
};

type Open = Pick<Erasure, 'id' | 'requestedAt'>;

/**
 * Since when an erasure is under way: since it was requested, unless the clock there was ahead; then since this process first came to it, by
 * the earliest time at which it did. Nobody waits a day for a clock that was a day ahead for a moment.
 */
function beginnings(): (open: readonly Open[], erasure: Open, now: Millis) => Millis {
  const seen = new Map<string, Millis>();
  return (open, { id, requestedAt }, now) => {
    for (const known of seen.keys()) if (!open.some((one) => one.id === known)) seen.delete(known);
    if (requestedAt <= now) return requestedAt;
    const at = Math.min(seen.get(id) ?? now, now);
    seen.set(id, at);
    return at;
  };
}

async function eraseRows({ ledger }: ErasureDeps, id: string, cancel: Cancellation): Promise<void> {
  for (;;) {
    if (cancel.aborted) throw cancel.reason ?? new Error('cancelled');
    const { more } = await ledger.erasures.slice(id, SLICE);
    if (!more) return;
  }
}

/** The entries of the trail stay, and name the erasure instead of the owner. */
async function forgetInTrail({ ledger }: ErasureDeps, id: string, cancel: Cancellation): Promise<void> {
  while ((await ledger.trail.forgetOwner(id, SLICE)) === SLICE) {
    if (cancel.aborted) throw cancel.reason ?? new Error('cancelled');
  }
}

/** Overwrites what is free, once for all erasures that have come so far. */
async function compact(
  { ledger, index, tools, log, segments }: ErasureDeps,
  mine: Erasure,
  since: Millis,
): Promise<Millis | null> {
  const now = tools.now();
  const open = await ledger.erasures.open(OPEN_MAX);
  const othersGo = open.some(({ id, state, departed }) => id !== mine.id && state !== 'compacting' && !departed);
  if (othersGo && now < since + TOGETHER_MS) return now + COMPACT_AGAIN_MS;
  const atProvider = await ledger.bulk.erasing();
  if (atProvider > 0 && now < since + PROVIDER_MS) return now + COMPACT_AGAIN_MS;
  const stores = [await ledger.erasures.compact(), await index.compact()];
  if (!stores.every(({ done }) => done)) return tools.now() + COMPACT_AGAIN_MS;
  const over = open.filter(({ state }) => state === 'compacting');
  const ids = over.map(({ id }) => id);
  const hadSegments = over.some(({ counts }) => (counts.segments ?? 0) > 0);
  const remains = [
    ...stores.flatMap((store) => store.remains),
    ...(atProvider > 0 ? [AT_PROVIDER] : []),
    ...(hadSegments ? ((await segments?.remains()) ?? []) : []),
  ];
  await ledger.erasures.finish(ids, { remains, now: tools.now() });
  log.info({ erasures: ids, remains }, 'erased');
  return null;
}

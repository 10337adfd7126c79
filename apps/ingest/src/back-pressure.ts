import type { LaneStore, Millis, TenantId } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';

/** How old a count of waiting batches may be, and a list of late tenants. */
const COUNT_MS = 1_000;
const LATE_MS = 5_000;
/** Reading them gets one part of so many of the time, however long it takes. */
const SHARE = 100;
/** What is older by so much says nothing any more: the backlog may have gone in the meantime. */
const STALE_MS = 10_000;
/** So many make a backlog; one or a few may be late for a reason of their own, which is nobody else's business. */
const LATE_USERS = 50;
/** Workers need a while; callers that were sent away together should not come back for every single place. */
const RETRY_AFTER_SECONDS = 5;

/** Refuses batches while too many wait already. */
export interface BackPressure {
  /** Throws when there is no room. Reads what was counted before, and never waits for a count. */
  check(tenant: TenantId): void;
  /** One more waits. */
  accepted(tenant: TenantId): void;
}

export function backPressure(deps: Pick<IngestDeps, 'ledger' | 'tools' | 'log' | 'maxPending'>): BackPressure {
  const { perTenant, total, lateMs } = deps.maxPending;
  const all = backlog(deps, null, total);
  const late = lateTenants(deps);
  const tenants = new Map<TenantId, Backlog>();
  const of = (tenant: TenantId): Backlog => {
    const known = tenants.get(tenant) ?? backlog(deps, tenant, perTenant);
    tenants.set(tenant, known);
    return known;
  };
  return {
    check: (tenant) => {
      if (of(tenant).isFull()) throw tooMany(`${perTenant} batches are waiting`);
      if (all.isFull()) throw tooMany(`${total} batches of all tenants are waiting`);
      if (late.has(tenant)) throw tooMany(`${LATE_USERS} users have been due for more than ${lateMs / 60_000} minutes`);
    },
    accepted: (tenant) => {
      of(tenant).grow();
      all.grow();
    },
  };
}

interface Backlog {
  isFull(): boolean;
  grow(): void;
}

/** What waits, as it was counted last, and what came since by this process. */
function backlog(deps: Pick<IngestDeps, 'ledger' | 'tools' | 'log'>, tenant: TenantId | null, most: number): Backlog {
  let since = 0;
  const counted = inBackground(deps, {
    everyMs: COUNT_MS,
    read: () => {
      since = 0;
      return deps.ledger.overview.backlog(tenant, most);
    },
    failed: 'could not count waiting batches; accepting new ones anyway',
  });
  return {
    isFull: () => {
      const count = counted();
      return count !== null && count + since >= most;
    },
    grow: () => {
      since += 1;
    },
  };
}

const tooMany = (what: string) =>
  problem(
    'too_many_requests',
    `${what}, which is the limit; retry in ${RETRY_AFTER_SECONDS} ` +
      's. Add workers, or raise the limits of the ' +
      'model, to process batches faster.',
    { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
  );

/**
 * Tenants whose work comes in faster than it is done, by how long it has been due. A user whose try failed is due when it is
 * tried again, so that a model that is away makes nobody late. Backfill may be late.
 */
function lateTenants(deps: Pick<IngestDeps, 'ledger' | 'tools' | 'log' | 'maxPending'>): {
  has(tenant: TenantId): boolean;
} {
  const { lanes } = deps.ledger;
  const time = workersTime(lanes);
  const late = inBackground(deps, {
    everyMs: LATE_MS,
    read: async (now) => new Set(await lanes.lateTenants((await time(now)) - deps.maxPending.lateMs, LATE_USERS)),
    failed: 'could not check for overdue users; accepting new batches anyway',
  });
  return { has: (tenant) => late()?.has(tenant) === true };
}

/**
 * What the time is by the clocks that the work is done by: what they have shown last, and what has passed since that was seen
 * here. Nobody is late only because the clock of this process is ahead, or that of one worker: the earlier of both counts.
 * Before any worker has looked there is no other clock than this one.
 */
function workersTime(lanes: Pick<LaneStore, 'clockShown'>): (now: Millis) => Promise<Millis> {
  let shown: Millis | null = null;
  let since: Millis = 0;
  return async (now) => {
    const latest = await lanes.clockShown();
    if (latest === null) return now;
    if (latest !== shown || now < since) [shown, since] = [latest, now];
    return Math.min(now, latest + now - since);
  };
}

interface Reading<T> {
  readonly everyMs: Millis;
  read(now: Millis): Promise<T>;
  /** What the log says when it failed. */
  readonly failed: string;
}

/** What was read last; null before the first read, and once that is too old. Whoever asks waits for nothing: it is read after that. */
function inBackground<T>(
  { tools, log }: Pick<IngestDeps, 'tools' | 'log'>,
  { everyMs, read, failed }: Reading<T>,
): () => T | null {
  let last: T | null = null;
  let readAt: Millis = Number.NEGATIVE_INFINITY;
  let againMs = everyMs;
  let reading = false;
  const readAgain = async (): Promise<void> => {
    const from = tools.now();
    try {
      last = await read(from);
      readAt = tools.now();
      againMs = Math.max(everyMs, (readAt - from) * SHARE);
    } catch (error) {
      log.warn({ error: String(error) }, failed);
    } finally {
      reading = false;
    }
  };
  return () => {
    const age = Math.abs(tools.now() - readAt); // a clock that was set back makes nothing fresh
    if (!reading && age >= againMs) {
      reading = true;
      setImmediate(() => void readAgain()); // after this request: a read may hold up the thread for milliseconds
    }
    return age < againMs + STALE_MS ? last : null;
  };
}

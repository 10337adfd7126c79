import type { LaneStore, Ledger, Log, Millis, TenantId, Tools } from '@slowwave/engine';
import { tooManyRequests } from '@slowwave/http';

/** The maximum age of a count of waiting batches, and of the list of late tenants. */
const COUNT_MS = 1_000;
const LATE_MS = 5_000;
/** Reading them may take one part in this many of the time. */
const SHARE = 100;
/** A result that is older by this much is not used: the backlog may be gone. */
const STALE_MS = 10_000;
/** How many late users make a tenant late; a few may be late for their own reasons. */
const LATE_USERS = 50;
/** Workers need a while; refused callers should not return for every free place. */
const RETRY_AFTER_SECONDS = 5;

/** What back pressure looks at. */
export interface PressureDeps {
  readonly ledger: Ledger;
  readonly tools: Tools;
  readonly log: Log;
  /** New batches are refused above these numbers of waiting ones, and while a tenant's users are late by this much. */
  readonly maxPending: { readonly perTenant: number; readonly total: number; readonly lateMs: number };
}

/** Refuses batches while too many are waiting. */
export interface BackPressure {
  /** Throws if there is no room. Uses the last count, and never waits for one. */
  check(tenant: TenantId): void;
  /** One more is waiting. */
  accepted(tenant: TenantId): void;
}

export function backPressure(deps: PressureDeps): BackPressure {
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

/** The last count of waiting batches, and what this process has accepted since. */
function backlog(deps: Omit<PressureDeps, 'maxPending'>, tenant: TenantId | null, most: number): Backlog {
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
  tooManyRequests(
    `${what}, which is the limit; retry in ${RETRY_AFTER_SECONDS} s. Add workers, or raise the limits of the model, to ` +
      'process batches faster.',
    RETRY_AFTER_SECONDS,
  );

/**
 * Tenants whose work arrives faster than it is done, by how long it has been due. After a failed attempt a user is due at
 * the next attempt, so an unavailable model makes nobody late. Backfill may be late.
 */
function lateTenants(deps: PressureDeps): {
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
 * The time by the workers' clocks: the last one seen, plus what has passed since. The earlier of this and the own clock
 * counts, so nobody is late because one clock is ahead. Before any worker has run, the own clock counts.
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
  /** The log message of a failure. */
  readonly failed: string;
}

/** The last result; null before the first one, and once it is too old. Never waits: it reads again in the background. */
function inBackground<T>(
  { tools, log }: Pick<PressureDeps, 'tools' | 'log'>,
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
    const age = Math.abs(tools.now() - readAt); // also if the clock was set back
    if (!reading && age >= againMs) {
      reading = true;
      setImmediate(() => void readAgain()); // after this request: a read may block the thread for milliseconds
    }
    return age < againMs + STALE_MS ? last : null;
  };
}

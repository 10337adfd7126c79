import type { LaneStore, Millis, TenantId } from '@slowwave/engine';
import type { IngestDeps } from './deps.ts';

/** So many make a backlog; one or a few may be late for a reason of their own, which is nobody else's business. */
export const LATE_USERS = 50;
const LOOK_AGAIN_MS = 5_000;
/** A look that took long is repeated after so many times as long: it gets one part of so many of the time. */
const SHARE = 100;
/** A look that is older by so much than the next one should be says nothing any more. */
const STALE_MS = 10_000;

/**
 * Tenants whose work comes in faster than it is done, by how long it has been due. A user whose try failed is due when it is
 * tried again, so that a model that is away makes nobody late. Backfill may be late. Asked about it, it looks anew after that.
 */
export function lateTenants({
  ledger: { lanes },
  tools,
  log,
  maxPending,
}: Pick<IngestDeps, 'ledger' | 'tools' | 'log' | 'maxPending'>): { has(tenant: TenantId): boolean } {
  let late: ReadonlySet<TenantId> = new Set();
  let lookedAt: Millis = Number.NEGATIVE_INFINITY;
  let againMs = LOOK_AGAIN_MS;
  let looking = false;
  const time = workersTime(lanes);
  const look = async (): Promise<void> => {
    const from = tools.now();
    try {
      late = new Set(await lanes.lateTenants((await time(from)) - maxPending.lateMs, LATE_USERS));
      lookedAt = tools.now();
      againMs = Math.max(LOOK_AGAIN_MS, (lookedAt - from) * SHARE);
    } catch (error) {
      log.warn({ error: String(error) }, 'could not check for overdue users; accepting new batches anyway');
    } finally {
      looking = false;
    }
  };
  return {
    has: (tenant) => {
      const age = Math.abs(tools.now() - lookedAt);
      if (!looking && age >= againMs) {
        looking = true;
        setImmediate(() => void look());
      }
      return age < againMs + STALE_MS && late.has(tenant);
    },
  };
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

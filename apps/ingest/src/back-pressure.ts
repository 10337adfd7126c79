import type { Millis, TenantId } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { IngestDeps } from './deps.ts';
import { LATE_USERS, lateTenants } from './late-tenants.ts';

/** How old a count may be… */
const FRESH_MS = 1_000;
/** …unless counting took long: it gets one part of so many of the time, whatever there is to count. */
const SHARE = 100;
/** An older count says nothing any more: the backlog may have gone in the meantime. */
const STALE_MS = 10_000;
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

/** What waits, as it was counted last, and what came since by this process. Asked about it, it counts anew after that. */
function backlog(
  { ledger, tools, log }: Pick<IngestDeps, 'ledger' | 'tools' | 'log'>,
  tenant: TenantId | null,
  most: number,
): Backlog {
  let counted = 0;
  let since = 0;
  let countedAt: Millis = Number.NEGATIVE_INFINITY;
  let freshMs = FRESH_MS;
  let counting = false;
  const age = (): Millis => Math.abs(tools.now() - countedAt); // a clock that was set back makes nothing fresh
  const count = async (): Promise<void> => {
    const from = tools.now();
    since = 0;
    try {
      counted = await ledger.overview.backlog(tenant, most);
      countedAt = tools.now();
      freshMs = Math.max(FRESH_MS, (countedAt - from) * SHARE);
    } catch (error) {
      log.warn({ error: String(error) }, 'could not count waiting batches; accepting new ones anyway');
    } finally {
      counting = false;
    }
  };
  return {
    isFull: () => {
      if (!counting && age() >= freshMs) {
        counting = true;
        setImmediate(() => void count()); // after this request: a count may hold up the thread for milliseconds
      }
      return age() < freshMs + STALE_MS && counted + since >= most;
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

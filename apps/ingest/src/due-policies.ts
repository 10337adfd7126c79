import { type DuePolicy, duePolicy, type Millis, type PersonalPolicy, type TenantId } from '@slowwave/engine';
import type { IngestDeps } from './deps.ts';

/** How old settings may be: a change counts within this time, and nearly no POST reads them. */
const FRESH_MS = 1_000;

/** What a tenant's settings say of its batches. */
export interface BatchPolicy {
  readonly due: DuePolicy;
  readonly personalData: PersonalPolicy;
  readonly timezone: string | null;
}

interface Known {
  readonly readAt: Millis;
  readonly policy: Promise<BatchPolicy>;
}

/** When a tenant's batches are due, and what is stored of them. Requests that come at the same time share one read. */
export function duePolicies({
  ledger,
  tools,
  due,
}: Pick<IngestDeps, 'ledger' | 'tools' | 'due'>): (tenant: TenantId) => Promise<BatchPolicy> {
  const known = new Map<TenantId, Known>();
  const read = async (tenant: TenantId): Promise<BatchPolicy> => {
    try {
      const settings = await ledger.settings.get(tenant);
      const { personalData, timezone } = settings;
      return { due: duePolicy(settings, due), personalData, timezone };
    } catch (error) {
      known.delete(tenant); // the next request asks again
      throw error;
    }
  };
  return (tenant) => {
    const now = tools.now();
    const last = known.get(tenant);
    // A clock that was set back makes nothing fresh.
    if (last !== undefined && Math.abs(now - last.readAt) < FRESH_MS) return last.policy;
    const policy = read(tenant);
    known.set(tenant, { readAt: now, policy });
    return policy;
  };
}

import type { BatchView } from '@slowwave/contracts';
import type { Batch, Ledger, Scope, TenantId } from '@slowwave/engine';
import { longPoll, notFound } from '@slowwave/http';
import { batchView } from './views.ts';

export interface BatchKey {
  readonly tenant: TenantId;
  readonly id: string;
  /** Whether who asks may know of a batch of this scope; if not there is none. */
  mayKnow(scope: Scope): boolean;
}

/** A batch as it stands when nothing more will happen to it by itself, or when the time is up. */
export async function outcome(
  ledger: Ledger,
  key: BatchKey,
  how: { waitMs: number; signal: AbortSignal },
): Promise<BatchView> {
  const look = async () => {
    const value = await read(ledger, key);
    return { done: value.state !== 'pending' && value.state !== 'consolidating', value };
  };
  const batch = await longPoll(look, how.waitMs, how.signal);
  const [events, usage] = await Promise.all([
    ledger.batches.events(key.tenant, batch.id),
    batch.consolidationId === null ? null : ledger.overview.usageOf(batch.consolidationId),
  ]);
  return batchView(batch, events, usage);
}

async function read(ledger: Ledger, { tenant, id, mayKnow }: BatchKey): Promise<Batch> {
  const batch = await ledger.batches.get(tenant, id);
  if (batch === null || !mayKnow(batch.scope)) throw notFound('batch', id);
  return batch;
}

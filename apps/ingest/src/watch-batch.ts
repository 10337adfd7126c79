import type { BatchView } from '@slowwave/contracts';
import type { Batch, Ledger, Scope, TenantId } from '@slowwave/engine';
import { longPoll, notFound } from '@slowwave/http';
import { batchView } from './views.ts';

export interface BatchKey {
  readonly tenant: TenantId;
  readonly id: string;
  /** Whether who asks may know of a batch, or a memory, of this scope; if not there is none. */
  mayKnow(scope: Scope): boolean;
  /** Whether there are memories that who asks may not know of: what became of them is left out. */
  readonly bound: boolean;
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
    eventsOf(ledger, key, batch.id),
    batch.consolidationId === null ? null : ledger.overview.usageOf(batch.consolidationId),
  ]);
  return batchView(batch, events, usage);
}

/** A batch can change what other apps' messages made: who is kept to one app is not shown that. */
async function eventsOf(ledger: Ledger, { tenant, mayKnow, bound }: BatchKey, id: string) {
  const events = await ledger.batches.events(tenant, id);
  if (!bound || events.length === 0) return events;
  const memories = await ledger.memories.many(tenant, [...new Set(events.map(({ memoryId }) => memoryId))]);
  const known = new Set(memories.filter(({ scope }) => mayKnow(scope)).map((memory) => memory.id));
  return events.filter(({ memoryId }) => known.has(memoryId));
}

async function read(ledger: Ledger, { tenant, id, mayKnow }: BatchKey): Promise<Batch> {
  const batch = await ledger.batches.get(tenant, id);
  if (batch === null || !mayKnow(batch.scope)) throw notFound('batch', id);
  return batch;
}

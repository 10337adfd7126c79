import { BatchList, BatchView, ListBatchesQuery, WaitQuery } from '@slowwave/contracts';
import {
  type Batch,
  failuresView,
  failureView,
  isoOf,
  isoOrNull,
  type Ledger,
  type MemoryEvent,
  type Scope,
  scopeView,
  type TenantId,
  type UsageTotals,
} from '@slowwave/engine';
import {
  type App,
  type FastifyRequest,
  IdParams,
  isForOneApp,
  listed,
  longPoll,
  mayKnow,
  notFound,
  pageOf,
  requestTenant,
  waitSignal,
} from '@slowwave/http';
import type { IngestDeps } from './deps.ts';

const getBatchSchema = {
  operationId: 'getBatch',
  tags: ['ingest'],
  summary: 'Get the state of a batch',
  description: 'With wait, the response is sent once the batch is done or the time is up.',
  params: IdParams,
  querystring: WaitQuery.strict(),
  response: { 200: BatchView },
};

export function getBatch(app: App, { ledger }: IngestDeps): void {
  app.get(
    '/v1/batches/:id',
    { schema: getBatchSchema, config: { bounds: { by: 'found', apps: true } } },
    async (request, reply) => {
      return outcome(ledger, batchKey(request, request.params.id), {
        waitMs: request.query.wait,
        signal: waitSignal(reply),
      });
    },
  );
}

interface BatchKey {
  readonly tenant: TenantId;
  readonly id: string;
  /** Whether who asks may know of a batch, or a memory, of this scope; if not there is none. */
  mayKnow(scope: Scope): boolean;
  /** Whether there are memories that who asks may not know of: what became of them is left out. */
  readonly bound: boolean;
}

export const batchKey = (request: FastifyRequest, id: string): BatchKey => ({
  tenant: requestTenant(request) as TenantId,
  id,
  mayKnow: (scope) => mayKnow(request, scope),
  bound: isForOneApp(request),
});

/** A batch as it stands when nothing more will happen to it by itself, or when the time is up. */
export async function outcome(
  ledger: Ledger,
  key: BatchKey,
  how: { waitMs: number; signal: AbortSignal },
): Promise<BatchView> {
  const look = async () => {
    const value = await readBatch(ledger, key);
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

async function readBatch(ledger: Ledger, { tenant, id, mayKnow }: BatchKey): Promise<Batch> {
  const batch = await ledger.batches.get(tenant, id);
  if (batch === null || !mayKnow(batch.scope)) throw notFound('batch', id);
  return batch;
}

const listBatchesSchema = {
  operationId: 'listBatches',
  tags: ['ingest'],
  summary: 'List batches, newest first',
  querystring: ListBatchesQuery,
  response: { 200: BatchList },
};

export function listBatches(app: App, { ledger }: IngestDeps): void {
  app.get(
    '/v1/batches',
    { schema: listBatchesSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const { state, user_id, since } = request.query;
      const filter = {
        ...(state !== undefined && { state }),
        ...(user_id !== undefined && { userId: user_id }),
        ...(since !== undefined && { since: Date.parse(since) }),
      };
      const page = await ledger.batches.list(requestTenant(request) as TenantId, filter, pageOf(request.query));
      return listed(page, batchSummary);
    },
  );
}

type BatchSummary = Omit<BatchView, 'events' | 'failures' | 'usage'>;

const batchSummary = (batch: Batch): BatchSummary => ({
  id: batch.id,
  ...scopeView(batch.scope),
  state: batch.state,
  stage: batch.stage,
  attempts: batch.attempts,
  error: failureView(batch.failure),
  consolidation_id: batch.consolidationId,
  messages: batch.messageCount,
  priority: batch.priority,
  timings: {
    accepted_at: isoOf(batch.acceptedAt),
    claimed_at: isoOrNull(batch.claimedAt),
    applied_at: isoOrNull(batch.appliedAt),
    searchable_at: isoOrNull(batch.searchableAt),
  },
});

/** Usage is that of the whole consolidation, which other batches may share. */
const batchView = (batch: Batch, events: readonly MemoryEvent[], usage: UsageTotals | null): BatchView => ({
  ...batchSummary(batch),
  failures: failuresView(batch.failures),
  events: events.map(eventView),
  usage: usage && {
    calls: usage.calls,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
  },
});

/** A deletion or a confirmation makes no text of its own: it shows the one it was about. */
const eventView = (event: MemoryEvent): BatchView['events'][number] => ({
  id: event.id,
  event: event.kind,
  memory_id: event.memoryId,
  memory: event.text ?? event.previous ?? '',
  previous: event.previous,
});

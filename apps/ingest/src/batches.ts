import {
  BatchAccepted,
  BatchList,
  BatchView,
  FlushView,
  ListBatchesQuery,
  PostBatch,
  PostFlush,
  WaitQuery,
} from '@slowwave/contracts';
import {
  type Acknowledged,
  type Batch,
  type BatchState,
  type DuePolicy,
  dayOf,
  draftBatch,
  duePolicy,
  eventsInApp,
  failuresView,
  failureView,
  fromTheFuture,
  inApp,
  isoOf,
  isoOrNull,
  type Ledger,
  type MemoryEvent,
  type Millis,
  type NewBatch,
  type Nudge,
  ownerOf,
  type PersonalPolicy,
  rungOn,
  type Scope,
  scopeOf,
  scopeView,
  type TenantId,
  type UsageTotals,
  withPolicy,
} from '@slowwave/engine';
import {
  checkImages,
  checkTimes,
  concerns,
  type FastifyRequest,
  given,
  group,
  IdParams,
  type ImagesTaken,
  idempotencyOf,
  isForOneApp,
  KeyHeader,
  listed,
  longPoll,
  mayKnow,
  momentOf,
  notFound,
  ownApp,
  pageOf,
  principalOf,
  problem,
  type Routes,
  refuseForOneApp,
  requestTenant,
  routesWith,
  waitSignal,
} from '@slowwave/http';
import { z } from 'zod';
import { type BackPressure, backPressure, type PressureDeps } from './back-pressure.ts';

/** What the ingest routes work with. */
export interface IngestDeps extends PressureDeps {
  readonly due: DuePolicy;
  /** Whether there is an image model, and which hosts images may be on. */
  readonly images: ImagesTaken;
  /** Never waited for. */
  acknowledged(acknowledged: Acknowledged): void;
  /** Schedules turns of lanes. Nobody waits for it: the ledger knows what is due, and a sweep finds missing jobs. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
}

/** The dependencies with what an app keeps between requests. */
interface Ingest extends IngestDeps {
  readonly pressure: BackPressure;
  policyOf(tenant: TenantId): Promise<BatchPolicy>;
}

const route = routesWith<Ingest, TenantId>()('ingest');

/** Takes transcripts in, and shows what became of them. */
export const ingestRoutes = (deps: IngestDeps): Routes =>
  group('ingest', { ...deps, pressure: backPressure(deps), policyOf: duePolicies(deps) }, batchRoutes);

const Answer = z.union([BatchAccepted, BatchView]);

const batchRoutes = [
  /**
   * Every refusal comes before anything is stored, so a caller can retry after a 429. After the append only reading the
   * outcome can fail, and the batch is stored in any case.
   */
  route('POST /v1/batches', {
    id: 'postBatch',
    summary: 'Post messages to remember',
    description:
      'The batch is stored before it is acknowledged, and consolidated in the background. With wait, it is consolidated ' +
      'now, and the response is the state of the batch once it is done or the time is up. If too many batches are already waiting, the ' +
      'response is 429 with Retry-After.',
    headers: KeyHeader,
    query: WaitQuery.strict(),
    body: PostBatch,
    answer: { 200: Answer, 202: Answer },
    bounds: { by: 'body', apps: true },
    handle: async (deps, { tenant, body, query, headers, request, reply }) => {
      const key = idempotencyOf(headers['idempotency-key'], body.idempotency_key);
      deps.pressure.check(tenant);
      if (body.graph === true) refuseForOneApp(request, 'relations are shared by all apps, so remove graph');
      checkImages(body.messages, deps.images);
      checkTimes(body, deps.tools.now());
      const { due, personalData, timezone } = await deps.policyOf(tenant);
      const by = { keyId: principalOf(request).keyId, ownAppOnly: isForOneApp(request) };
      const posted = draftBatch(deps.tools, { tenant, body, key, timezone, ...by });
      const draft = { ...posted, flush: posted.flush || query.wait > 0 };
      const signal = query.wait === 0 ? null : waitSignal(reply);

      const stored = await append(deps, withPolicy(draft, personalData), due);
      if (!stored.repeated) deps.pressure.accepted(tenant);
      concerns(request, { kind: 'batch', id: stored.id });
      report(deps, stored, { draft, elapsedMs: reply.elapsedTime, traceparent: request.raw.headers.traceparent });

      reply.header('location', statusUrl(stored.id));
      reply.code(stored.repeated ? 200 : 202);
      if (signal === null) return accepted(stored);
      const known = batchKey(request, stored.id);
      if (stored.repeated) await hasten(deps, known);
      const view = await outcome(deps.ledger, known, { waitMs: query.wait, signal });
      if (view.stage === 'done') reply.code(200);
      return { ...view, ...pausedIn(stored) };
    },
  }),
  route('GET /v1/batches/:id', {
    id: 'getBatch',
    summary: 'Get the state of a batch',
    description:
      'With wait, the batch is consolidated now, and the response is sent once it is done or the time is up.',
    params: IdParams,
    query: WaitQuery.strict(),
    answer: BatchView,
    bounds: { by: 'found', apps: true },
    handle: async (deps, { params, query, request, reply }) => {
      const signal = waitSignal(reply);
      const key = batchKey(request, params.id);
      if (query.wait > 0) await hasten(deps, key);
      return outcome(deps.ledger, key, { waitMs: query.wait, signal });
    },
  }),
  route('GET /v1/batches', {
    id: 'listBatches',
    summary: 'List batches, newest first',
    query: ListBatchesQuery,
    answer: BatchList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const { state, user_id: userId, lane, error_code: errorCode } = query;
      const filter = given({ state, userId, lane, errorCode, since: momentOf(query.since) });
      return listed(await ledger.batches.list(tenant, filter, pageOf(query)), batchSummary);
    },
  }),
  route('POST /v1/flush', {
    id: 'flush',
    summary: "Make an owner's waiting batches due now",
    description: 'The owner is the first of user_id, agent_id and run_id that is set.',
    body: PostFlush,
    answer: FlushView,
    bounds: { by: 'body', apps: false },
    handle: async (deps, { tenant, body }) => {
      const owner = ownerOf(scopeOf(body));
      const { pending, nudge } = await deps.ledger.lanes.flush(tenant, owner, deps.tools.now());
      if (nudge !== null) scheduleTurns(deps, [nudge]);
      return { pending };
    },
  }),
];

interface StoredBatch {
  readonly id: string;
  readonly state: BatchState;
  readonly repeated: boolean;
  /** How much of it was said in a pause. */
  readonly paused: 'none' | 'some' | 'all';
}

async function append(deps: IngestDeps, batch: NewBatch, due: DuePolicy): Promise<StoredBatch> {
  const appended = await deps.ledger.batches.append(batch, due);
  if (appended.kind === 'repeated')
    return { id: appended.batchId, state: appended.state, repeated: true, paused: 'none' };
  if (appended.kind === 'conflict') {
    throw problem(
      'idempotency_conflict',
      `the idempotency key ${JSON.stringify(batch.idempotency?.key)} was already used with a different body; send the ` +
        'original body, or use a new key',
    );
  }
  if (appended.nudge !== null) scheduleTurns(deps, [appended.nudge]);
  return { id: batch.id, state: 'pending', repeated: false, paused: appended.paused };
}

interface Posted {
  readonly draft: NewBatch;
  readonly elapsedMs: number;
  readonly traceparent: string | string[] | undefined;
}

/** Reports to metrics and traces. */
function report({ tools, acknowledged }: IngestDeps, { id, repeated }: StoredBatch, posted: Posted): void {
  const endedAt = tools.now();
  acknowledged({
    batchId: id,
    repeated,
    startedAt: endedAt - posted.elapsedMs,
    endedAt,
    traceparent: typeof posted.traceparent === 'string' ? posted.traceparent : null,
    fromTheFuture: fromTheFuture(posted.draft),
  });
}

const statusUrl = (id: string): string => `/v1/batches/${id}`;

const accepted = (stored: StoredBatch) => ({
  ...{ batch_id: stored.id, state: stored.state, status_url: statusUrl(stored.id) },
  ...pausedIn(stored),
});

const pausedIn = ({ paused }: StoredBatch): Pick<BatchView, 'paused'> => (paused === 'none' ? {} : { paused });

/** The maximum age of settings: a change takes effect within this time, and few requests read them. */
const SETTINGS_FRESH_MS = 1_000;

/** The settings of a tenant that apply to its batches. */
interface BatchPolicy {
  readonly due: DuePolicy;
  readonly personalData: PersonalPolicy;
  readonly timezone: string | null;
}

interface Known {
  readonly readAt: Millis;
  readonly policy: Promise<BatchPolicy>;
}

/** When a tenant's batches are due, and what is stored of them. Concurrent requests share one read. */
export function duePolicies({
  ledger,
  tools,
  due,
}: Pick<IngestDeps, 'ledger' | 'tools' | 'due'>): (tenant: TenantId) => Promise<BatchPolicy> {
  const known = new Map<TenantId, Known>();
  const read = async (tenant: TenantId): Promise<BatchPolicy> => {
    try {
      const { rules, economy } = await ledger.settings.terms(tenant);
      const { personalData, timezone } = rules;
      return { due: duePolicy(rules, due, rungOn(economy, dayOf(tools.now()))), personalData, timezone };
    } catch (error) {
      known.delete(tenant); // the next request reads again
      throw error;
    }
  };
  return (tenant) => {
    const now = tools.now();
    const last = known.get(tenant);
    // Also if the clock was set back.
    if (last !== undefined && Math.abs(now - last.readAt) < SETTINGS_FRESH_MS) return last.policy;
    const policy = read(tenant);
    known.set(tenant, { readAt: now, policy });
    return policy;
  };
}

/** Adds jobs without waiting: no acknowledgement depends on them, and the sweep finds missing ones. */
function scheduleTurns(deps: IngestDeps, nudges: readonly Nudge[]): void {
  deps.nudge(nudges).catch((err: unknown) => {
    deps.log.warn(
      { err, lanes: nudges.map(({ lane }) => lane) },
      'turns were not scheduled; the sweep will schedule them',
    );
  });
}

interface BatchKey {
  readonly tenant: TenantId;
  readonly id: string;
  /** Whether the key may see a batch of this scope; if not, it does not exist for it. */
  mayKnow(scope: Scope): boolean;
  /** The app that the key is bound to: what was only said in other apps is omitted. null: none. */
  readonly app: string | null;
}

export const batchKey = (request: FastifyRequest, id: string): BatchKey => ({
  tenant: requestTenant(request) as TenantId,
  id,
  mayKnow: (scope) => mayKnow(request, scope),
  app: ownApp(request),
});

/** Whoever waits for a batch is not kept waiting for its owner to be silent. */
async function hasten(deps: IngestDeps, key: BatchKey): Promise<void> {
  const { ledger, tools } = deps;
  const { state, lane: id, scope } = await readBatch(ledger, key);
  if (state !== 'pending') return;
  const lane = await ledger.lanes.get(id);
  const isDue = lane?.state === 'waiting' && (lane.dueAt ?? 0) <= tools.now();
  if (isDue) return;
  const { nudge } = await ledger.lanes.flush(key.tenant, ownerOf(scope), tools.now());
  if (nudge !== null) scheduleTurns(deps, [nudge]);
}

/** A batch once it is done, or when the time is up. */
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

/** A batch can also change memories from other apps. A key for one app only sees those of its app. */
async function eventsOf(ledger: Ledger, { tenant, app }: BatchKey, id: string): Promise<readonly MemoryEvent[]> {
  const events = await ledger.batches.events(tenant, id);
  if (app === null || events.length === 0) return events;
  const memories = await ledger.memories.many(tenant, [...new Set(events.map(({ memoryId }) => memoryId))]);
  const known = new Map(memories.map((memory) => [memory.id, inApp(memory, app)]));
  return events.flatMap((event) => {
    const memory = known.get(event.memoryId) ?? null;
    return memory === null ? [] : eventsInApp(memory, [event], app);
  });
}

async function readBatch(ledger: Ledger, { tenant, id, mayKnow }: BatchKey): Promise<Batch> {
  const batch = await ledger.batches.get(tenant, id);
  if (batch === null || !mayKnow(batch.scope)) throw notFound('batch', id);
  return batch;
}

type BatchSummary = Omit<BatchView, 'events' | 'failures' | 'usage' | 'paused'>;

const batchSummary = (batch: Batch): BatchSummary => ({
  id: batch.id,
  lane: batch.lane,
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

/** The usage is that of the whole consolidation, which may include other batches. */
const batchView = (batch: Batch, events: readonly MemoryEvent[], usage: UsageTotals | null): BatchView => ({
  ...batchSummary(batch),
  failures: failuresView(batch.failures),
  events: events.flatMap((event) => (event.kind === 'FEEDBACK' ? [] : eventView(event, event.kind))),
  usage: usage && {
    calls: usage.calls,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
  },
});

type BatchEvent = BatchView['events'][number];

/** A deletion or confirmation has no new text and shows that of its memory. */
const eventView = (event: MemoryEvent, kind: BatchEvent['event']): BatchEvent => ({
  id: event.id,
  event: kind,
  memory_id: event.memoryId,
  memory: event.text ?? event.previous ?? '',
  previous: event.previous,
});

import { BatchAccepted, BatchView, FlushView, PostBatch, PostFlush, WaitQuery } from '@slowwave/contracts';
import {
  type BatchState,
  type DuePolicy,
  draftBatch,
  duePolicy,
  fromTheFuture,
  type Millis,
  type NewBatch,
  type Nudge,
  ownerOf,
  type PersonalPolicy,
  scopeOf,
  type TenantId,
  withPolicy,
} from '@slowwave/engine';
import {
  type App,
  checkImages,
  checkTimes,
  concerns,
  idempotencyOf,
  isForOneApp,
  KeyHeader,
  problem,
  refuseForOneApp,
  requestTenant,
  waitSignal,
} from '@slowwave/http';
import { z } from 'zod';
import { backPressure } from './back-pressure.ts';
import { batchKey, outcome } from './batches.ts';
import type { IngestDeps } from './deps.ts';

const Answer = z.union([BatchAccepted, BatchView]);

const postBatchSchema = {
  operationId: 'postBatch',
  tags: ['ingest'],
  summary: 'Post messages to remember',
  description:
    'The batch is stored before it is acknowledged, and consolidated in the background. With wait, the response is ' +
    'the state of the batch once it is done or the time is up. If too many batches are already waiting, the ' +
    'response is 429 with Retry-After.',
  headers: KeyHeader,
  querystring: WaitQuery.strict(),
  body: PostBatch,
  response: { 200: Answer, 202: Answer },
};

/**
 * Everything that can be refused is refused before anything is stored: whoever gets a 429 may send the same again. After
 * the append nothing can fail but reading the outcome, and the batch is there whatever becomes of that.
 */
export function postBatch(app: App, deps: IngestDeps): void {
  const policyOf = duePolicies(deps);
  const pressure = backPressure(deps);
  app.post(
    '/v1/batches',
    { schema: postBatchSchema, config: { bounds: { by: 'body', apps: true } } },
    async (request, reply) => {
      const { body, query } = request;
      const tenant = requestTenant(request) as TenantId;
      const key = idempotencyOf(request.headers['idempotency-key'], body.idempotency_key);
      pressure.check(tenant);
      if (body.graph === true) refuseForOneApp(request, 'relations are shared by all apps, so remove graph');
      checkImages(body.messages, deps.images);
      checkTimes(body, deps.tools.now());
      const { due, personalData, timezone } = await policyOf(tenant);
      const draft = draftBatch(deps.tools, { tenant, body, key, timezone, ownAppOnly: isForOneApp(request) });
      const signal = query.wait === 0 ? null : waitSignal(reply);

      const stored = await append(deps, withPolicy(draft, personalData), due);
      if (!stored.repeated) pressure.accepted(tenant);
      concerns(request, { kind: 'batch', id: stored.id });
      report(deps, stored, { draft, elapsedMs: reply.elapsedTime, traceparent: request.raw.headers.traceparent });

      reply.header('location', statusUrl(stored.id));
      if (signal === null) return reply.code(stored.repeated ? 200 : 202).send(accepted(stored));
      const view = await outcome(deps.ledger, batchKey(request, stored.id), { waitMs: query.wait, signal });
      return reply.code(view.stage === 'done' || stored.repeated ? 200 : 202).send(view);
    },
  );
}

interface StoredBatch {
  readonly id: string;
  readonly state: BatchState;
  readonly repeated: boolean;
}

async function append(deps: IngestDeps, batch: NewBatch, due: DuePolicy): Promise<StoredBatch> {
  const appended = await deps.ledger.batches.append(batch, due);
  if (appended.kind === 'repeated') return { id: appended.batchId, state: appended.state, repeated: true };
  if (appended.kind === 'conflict') {
    throw problem(
      'idempotency_conflict',
      `the idempotency key ${JSON.stringify(batch.idempotency?.key)} was already used with a different body; send the ` +
        'original body, or use a new key',
    );
  }
  if (appended.nudge !== null) scheduleTurns(deps, [appended.nudge]);
  return { id: batch.id, state: 'pending', repeated: false };
}

interface Posted {
  readonly draft: NewBatch;
  readonly elapsedMs: number;
  readonly traceparent: string | string[] | undefined;
}

/** To the metrics and traces. */
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

const accepted = ({ id, state }: StoredBatch) => ({ batch_id: id, state, status_url: statusUrl(id) });

/** How old settings may be: a change counts within this time, and nearly no POST reads them. */
const SETTINGS_FRESH_MS = 1_000;

/** What a tenant's settings say of its batches. */
interface BatchPolicy {
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
    if (last !== undefined && Math.abs(now - last.readAt) < SETTINGS_FRESH_MS) return last.policy;
    const policy = read(tenant);
    known.set(tenant, { readAt: now, policy });
    return policy;
  };
}

const postFlushSchema = {
  operationId: 'flush',
  tags: ['ingest'],
  summary: "Make an owner's waiting batches due now",
  description: 'The owner is the first of user_id, agent_id and run_id that is set.',
  body: PostFlush,
  response: { 200: FlushView },
};

export function postFlush(app: App, deps: IngestDeps): void {
  app.post(
    '/v1/flush',
    { schema: postFlushSchema, config: { bounds: { by: 'body', apps: false } } },
    async (request) => {
      const owner = ownerOf(scopeOf(request.body));
      const tenant = requestTenant(request) as TenantId;
      const { pending, nudge } = await deps.ledger.lanes.flush(tenant, owner, deps.tools.now());
      if (nudge !== null) scheduleTurns(deps, [nudge]);
      return { pending };
    },
  );
}

/** Tells the queue, without waiting: an acknowledgement never depends on it, and the sweep finds what it missed. */
function scheduleTurns(deps: IngestDeps, nudges: readonly Nudge[]): void {
  deps.nudge(nudges).catch((err: unknown) => {
    deps.log.warn(
      { err, lanes: nudges.map(({ lane }) => lane) },
      'turns were not scheduled; the sweep will schedule them',
    );
  });
}

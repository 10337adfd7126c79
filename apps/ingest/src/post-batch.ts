import { BatchAccepted, BatchView, PostBatch, WaitQuery } from '@slowwave/contracts';
import { type BatchState, draftBatch, fromTheFuture, type NewBatch, type TenantId, withPolicy } from '@slowwave/engine';
import {
  type App,
  checkImages,
  checkTimes,
  concerns,
  idempotencyOf,
  isForOneApp,
  KeyHeader,
  mayKnow,
  problem,
  refuseForOneApp,
  requestTenant,
  waitSignal,
} from '@slowwave/http';
import { z } from 'zod';
import { backPressure } from './back-pressure.ts';
import type { IngestDeps } from './deps.ts';
import { duePolicies } from './due-policies.ts';

import { scheduleTurns } from './schedule-turns.ts';
import { outcome } from './watch-batch.ts';

const Answer = z.union([BatchAccepted, BatchView]);

const schema = {
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

export function postBatch(app: App, deps: IngestDeps): void {
  const policyOf = duePolicies(deps);
  const pressure = backPressure(deps);
  app.post('/v1/batches', { schema, config: { bounds: { by: 'body', apps: true } } }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const key = idempotencyOf(request.headers['idempotency-key'], request.body.idempotency_key);
    pressure.check(tenant);
    if (request.body.graph === true) refuseForOneApp(request, 'relations are shared by all apps, so remove graph');
    checkImages(request.body.messages, deps.images);
    checkTimes(request.body, deps.tools.now());
    const { due, personalData, timezone } = await policyOf(tenant);
    const ownAppOnly = isForOneApp(request);
    const batch = draftBatch(deps.tools, { tenant, body: request.body, key, timezone, ownAppOnly });
    // Before anything is stored: who is told that too many wait already can send the same again.
    const signal = request.query.wait === 0 ? null : waitSignal(reply);
    const stored = await append({ ...deps, due }, withPolicy(batch, personalData));
    if (!stored.repeated) pressure.accepted(tenant);
    concerns(request, { kind: 'batch', id: stored.id });
    const { traceparent } = request.raw.headers;
    tell(deps, stored, { elapsedMs: reply.elapsedTime, traceparent, fromTheFuture: fromTheFuture(batch) });
    reply.header('location', statusUrl(stored.id));
    if (signal === null) return reply.code(stored.repeated ? 200 : 202).send(accepted(stored));
    const how = { waitMs: request.query.wait, signal };
    const view = await outcome(
      deps.ledger,
      { tenant, id: stored.id, mayKnow: (scope) => mayKnow(request, scope), bound: isForOneApp(request) },
      how,
    );
    return reply.code(view.stage === 'done' || stored.repeated ? 200 : 202).send(view);
  });
}

interface StoredBatch {
  readonly id: string;
  readonly state: BatchState;
  readonly repeated: boolean;
}

async function append(deps: IngestDeps, batch: NewBatch): Promise<StoredBatch> {
  const appended = await deps.ledger.batches.append(batch, deps.due);
  if (appended.kind === 'repeated') return { id: appended.batchId, state: appended.state, repeated: true };
  if (appended.kind === 'conflict') {
    throw problem(
      'idempotency_conflict',
      `the idempotency key ${JSON.stringify(batch.idempotency?.key)} ` +
        'was already used with a different body; ' +
        'send the original body, or use a new key',
    );
  }
  if (appended.nudge !== null) scheduleTurns(deps, [appended.nudge]);
  return { id: batch.id, state: 'pending', repeated: false };
}

interface Told {
  readonly elapsedMs: number;
  readonly traceparent: string | string[] | undefined;
  readonly fromTheFuture: number;
}

/** To the metrics and traces. */
function tell(
  { tools, acknowledged }: IngestDeps,
  stored: StoredBatch,
  { elapsedMs, traceparent, fromTheFuture: ahead }: Told,
): void {
  const { id: batchId, repeated } = stored;
  const endedAt = tools.now();
  const times = { startedAt: endedAt - elapsedMs, endedAt };
  acknowledged({
    ...times,
    batchId,
    repeated,
    traceparent: typeof traceparent === 'string' ? traceparent : null,
    fromTheFuture: ahead,
  });
}

const statusUrl = (id: string): string => `/v1/batches/${id}`;

const accepted = ({ id, state }: StoredBatch) => ({ batch_id: id, state, status_url: statusUrl(id) });

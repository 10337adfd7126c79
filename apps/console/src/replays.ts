import {
  GetReplayQuery,
  ListReplaysQuery,
  PostReplay,
  ReplayList,
  ReplayRehearsal,
  ReplayView,
} from '@slowwave/contracts';
import {
  type BatchState,
  discardSpace,
  type LaneId,
  type ReplayDeps,
  type ReplayFilter,
  startReplay,
  type TenantId,
  type WhatIfChanges,
} from '@slowwave/engine';
import {
  type App,
  concerns,
  IdParams,
  idempotencyOf,
  isOperator,
  KeyHeader,
  listed,
  pageOf,
  principalOf,
  problem,
  requestTenant,
} from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { existingReplay, rehearsalView, replayProgress, replaySummary, replayText } from './replay-view.ts';
import { refuseUnusable } from './settings.ts';

/** Replays of parked batches, and what-ifs of past ones. */
export function replayRoutes(app: App, deps: ConsoleDeps): void {
  postReplay(app, deps);
  listReplays(app, deps);
  getReplay(app, deps);
  deleteReplay(app, deps);
}

/** Batches a dry run shows. */
const SAMPLE = 20;

const postReplaySchema = {
  operationId: 'postReplay',
  tags: ['manage'],
  summary: 'Replay parked batches, or try past ones with other settings',
  description:
    'Parked batches are queued again at their old positions with zero attempts. They keep their original times, so ' +
    'newer information is not overwritten. Large numbers are queued in slices, in the background.\n\n' +
    'With a change (model, mode, instructions, …) or with shadow it is a what-if: copies of the batches are ' +
    'consolidated in a shadow space, with lower priority than live work, and the replay reports how memories ' +
    'would differ. Live data is not affected.\n\n' +
    'With dry_run nothing is changed.',
  headers: KeyHeader,
  body: PostReplay,
  response: { 200: z.union([ReplayRehearsal, ReplayView]), 202: ReplayView },
};

function postReplay(app: App, deps: ConsoleDeps): void {
  app.post('/v1/replays', { schema: postReplaySchema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const changes = changesOf(request.body);
    const filter = filterOf(request.body.filter, changes);
    refuseUnknownModel(deps, changes);
    if (!isOperator(principalOf(request))) refuseForbiddenModel(deps, changes);
    if (request.body.dry_run) return rehearsalView(await deps.ledger.replays.match(tenant, filter, SAMPLE));
    const key = idempotencyOf(request.headers['idempotency-key'], request.body.idempotency_key);
    const started = await startReplay(deps, { tenant, filter, changes, key });
    if (started.kind === 'conflict') throw otherReplay(key);
    if (started.kind === 'removed') throw removed(started.batchIds);
    if (started.kind === 'too_many') throw tooMany(started);
    concerns(request, { kind: 'replay', id: started.replay.id });
    reply.header('location', `/v1/replays/${started.replay.id}`);
    const view = await replayProgress(deps, started.replay);
    return reply.code(started.kind === 'repeated' ? 200 : 202).send(view);
  });
}

/** null: nothing is done otherwise, and parked batches are tried again in life. */
function changesOf(body: PostReplay): WhatIfChanges | null {
  const { filter: _filter, dry_run: _dry, idempotency_key: _key, shadow, ...given } = body;
  const { decide_instructions, recall_per_fact, prompts, ...rest } = given;
  refuseUnusable({ extract: prompts?.extract ?? null, decide: prompts?.decide ?? null });
  const changes = {
    ...rest,
    ...(prompts !== undefined && { prompts }),
    ...(decide_instructions !== undefined && { decideInstructions: decide_instructions }),
    ...(recall_per_fact !== undefined && { recallPerFact: recall_per_fact }),
  };
  return shadow || Object.keys(changes).length > 0 ? (changes as WhatIfChanges) : null;
}

function filterOf(filter: PostReplay['filter'], changes: WhatIfChanges | null): ReplayFilter {
  return {
    states: statesOf(filter.state, changes),
    ...(filter.batch_ids !== undefined && { ids: filter.batch_ids }),
    ...(filter.user_id !== undefined && { userId: filter.user_id }),
    ...(filter.error_code !== undefined && { errorCode: filter.error_code }),
    ...(filter.since !== undefined && { since: Date.parse(filter.since) }),
    ...(filter.until !== undefined && { until: Date.parse(filter.until) }),
  };
}

/** What was consolidated is never consolidated again in life: it would be confirmed at best. What was undone is brought back by redo. */
function statesOf(state: BatchState | undefined, changes: WhatIfChanges | null): readonly BatchState[] {
  if (changes !== null) return state === undefined ? ['consolidated', 'empty'] : [state];
  if (state === undefined || state === 'parked') return ['parked'];
  throw problem(
    'invalid_request',
    `${state} batches cannot ` +
      'be replayed live; add "shadow": true, or a change such as "model", to replay them ' +
      'in a shadow space',
    { errors: [{ path: 'filter.state', message: 'expected parked, unless it is a what-if' }] },
  );
}

/** The operator pays for every model of the provider: tenants have those asked that the operator lists. */
function refuseForbiddenModel({ tenantModels }: ConsoleDeps, changes: WhatIfChanges | null): void {
  const { model } = changes ?? {};
  if (model === undefined || tenantModels.includes(model)) return;
  const expected = `expected one of ${tenantModels.join(', ')}`;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} is not allowed for tenants: ${expected}; or ask the operator to add it to ` +
      'SLOWWAVE_TENANT_MODELS',
    { errors: [{ path: 'model', message: expected }] },
  );
}

function refuseUnknownModel({ otherChat }: ConsoleDeps, changes: WhatIfChanges | null): void {
  const { model } = changes ?? {};
  if (model === undefined || otherChat(model) !== null) return;
  throw problem(
    'invalid_request',
    `the model ${JSON.stringify(model)} cannot be used: no model server is configured; set OPENAI_BASE_URL or ` +
      'OPENAI_API_KEY',
    { errors: [{ path: 'model', message: 'expected builtin' }] },
  );
}

const otherReplay = (key: string | null) =>
  problem(
    'idempotency_conflict',
    `the idempotency key ${JSON.stringify(key)} ` +
      'was already used with a different body; send the original ' +
      'body, or use a new key',
  );

/** Batches a refusal names. */
const NAMED = 20;

const removed = (batchIds: readonly string[]) =>
  problem(
    'removed_by_retention',
    `retention has removed the messages of ${batchIds.length} of these batches, or the memories from them: ` +
      `${batchIds.slice(0, NAMED).join(', ')}; exclude them with batch_ids, since or user_id`,
  );

const tooMany = ({ matched, most }: { matched: number; most: number }) =>
  problem(
    'invalid_request',
    `${matched} batches match, but a what-if is limited to ${most}; narrow the filter with user_id, since and ` +
      'until, or batch_ids',
    { errors: [{ path: 'filter', message: `expected at most ${most} batches, got ${matched}` }] },
  );

const listReplaysSchema = {
  operationId: 'listReplays',
  tags: ['manage'],
  summary: 'List replays, newest first',
  querystring: ListReplaysQuery,
  response: { 200: ReplayList },
};

function listReplays(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/replays', { schema: listReplaysSchema }, async (request) => {
    const page = await ledger.replays.list(requestTenant(request) as TenantId, pageOf(request.query));
    return listed(page, replaySummary);
  });
}

const getReplaySchema = {
  operationId: 'getReplay',
  tags: ['manage'],
  summary: 'Get the progress of a replay and the result of a what-if',
  description: 'With format=text, returns a human-readable report as plain text.',
  params: IdParams,
  querystring: GetReplayQuery,
  response: {
    200: {
      description: 'The replay',
      content: { 'application/json': { schema: ReplayView }, 'text/plain': { schema: z.string() } },
    },
  },
};

function getReplay(app: App, deps: ConsoleDeps): void {
  app.get('/v1/replays/:id', { schema: getReplaySchema }, async (request, reply) => {
    const replay = await existingReplay(deps, requestTenant(request) as TenantId, request.params.id);
    const view = await replayProgress(deps, replay);
    if (request.query.format === 'json') return view;
    return reply
      .type('text/plain; charset=utf-8')
      .serializer((text: unknown) => String(text))
      .send(replayText(view) as never);
  });
}

const deleteReplaySchema = {
  operationId: 'discardReplay',
  tags: ['manage'],
  summary: 'Discard a what-if',
  description: 'Deletes its shadow space in the background. The result stays readable.',
  params: IdParams,
  response: { 202: ReplayView },
};

function deleteReplay(app: App, deps: ConsoleDeps): void {
  app.delete('/v1/replays/:id', { schema: deleteReplaySchema }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const replay = await existingReplay(deps, tenant, request.params.id);
    if (replay.kind === 'live') throw nothingToDiscard(replay.id);
    await discardSpace(deps, replay);
    return reply.code(202).send(await replayProgress(deps, await existingReplay(deps, tenant, replay.id)));
  });
}

const nothingToDiscard = (id: string) =>
  problem(
    'conflict',
    `replay ${id} is a live replay of parked batches and has no shadow space; only what-ifs can be discarded`,
  );

/** The parked batches of one lane wait again, by a replay as any other. */
export const replayLane =
  (deps: ReplayDeps) =>
  async (id: LaneId): Promise<number> => {
    const lane = await deps.ledger.lanes.get(id);
    if (lane === null) return 0;
    const filter = { states: ['parked'], lane: id } as const;
    const { matched } = await deps.ledger.replays.match(lane.tenant, filter, 0);
    if (matched > 0) await startReplay(deps, { tenant: lane.tenant, filter, changes: null, key: null });
    return matched;
  };

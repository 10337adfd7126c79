import {
  GetReplayQuery,
  ListReplaysQuery,
  ParkedList,
  PostReplay,
  ReplayList,
  ReplayRehearsal,
  ReplayView,
} from '@slowwave/contracts';
import {
  type BatchState,
  discardSpace,
  forecastOfReplay,
  type LaneId,
  type ReplayDeps,
  type ReplayFilter,
  startReplay,
  type WhatIfChanges,
} from '@slowwave/engine';
import { concerns, given, IdParams, idempotencyOf, KeyHeader, listed, momentOf, pageOf, problem } from '@slowwave/http';
import { z } from 'zod';
import { routesOf } from './deps.ts';
import {
  existingReplay,
  parkedStudyView,
  parkedView,
  rehearsalView,
  replayProgress,
  replaySummary,
  replayText,
} from './replay-view.ts';
import { namedIn, refuseModels, refuseUnusable } from './settings.ts';
import { forecastView } from './usage.ts';

const route = routesOf('manage');

/** More than anybody goes through by hand. */
const STUDIES_MAX = 100;

/** Why batches are parked, replays of parked and undone ones, and what-ifs of past ones. */
export const replayRoutes = [
  route('GET /v1/parked', {
    id: 'listParked',
    summary: 'List the errors of parked batches and graph updates, and what to do about them',
    description:
      'One entry for each error code, the most frequent first. GET /v1/batches lists the batches, POST /v1/replays ' +
      'replays them: both take the error code.',
    answer: ParkedList,
    handle: async ({ ledger }, { tenant }) => {
      const [reasons, studies] = await Promise.all([
        ledger.batches.parkedReasons(tenant),
        ledger.graph.parked(tenant, STUDIES_MAX),
      ]);
      return { results: reasons.map(parkedView), studies: studies.map(parkedStudyView) };
    },
  }),
  route('POST /v1/replays', {
    id: 'postReplay',
    summary: 'Replay parked or undone batches, or try past ones with other settings',
    description:
      'Parked batches are queued again at their old positions with zero attempts. They keep their original times, so ' +
      'newer information is not overwritten. Large numbers are queued in slices, in the background.\n\n' +
      'With state undone, batches whose consolidation was undone are queued in the same way, and consolidated with the ' +
      'current settings, prompts and model. If a model request is the same as before, its stored answer is reused ' +
      '(reused_from) and not paid for again. Their undo can no longer be redone.\n\n' +
      'With a change (model, mode, instructions, …) or with shadow it is a what-if: copies of the batches are ' +
      'consolidated in a shadow space, with lower priority than live work, and the replay reports how memories ' +
      'would differ. Live data is not affected.\n\n' +
      'With dry_run nothing is changed.',
    headers: KeyHeader,
    body: PostReplay,
    answer: { 200: z.union([ReplayRehearsal, ReplayView]), 202: ReplayView },
    handle: async (deps, { tenant, body, headers, request, reply }) => {
      const changes = changesOf(body);
      const filter = filterOf(body.filter, changes);
      refuseModels(deps, request, namedBy(changes ?? {}));
      if (body.dry_run) {
        const found = await deps.ledger.replays.match(tenant, filter, SAMPLE);
        return { ...rehearsalView(found), forecast: forecastView(await forecastOfReplay(deps, tenant, filter)) };
      }
      const key = idempotencyOf(headers['idempotency-key'], body.idempotency_key);
      const started = await startReplay(deps, { tenant, filter, changes, key });
      if (started.kind === 'conflict') throw otherReplay(key);
      if (started.kind === 'removed') throw removed(started.batchIds);
      if (started.kind === 'too_many') throw tooMany(started);
      concerns(request, { kind: 'replay', id: started.replay.id });
      reply.code(started.kind === 'repeated' ? 200 : 202).header('location', `/v1/replays/${started.replay.id}`);
      return replayProgress(deps, started.replay);
    },
  }),
  route('GET /v1/replays', {
    id: 'listReplays',
    summary: 'List replays, newest first',
    query: ListReplaysQuery,
    answer: ReplayList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(await ledger.replays.list(tenant, pageOf(query)), replaySummary),
  }),
  route('GET /v1/replays/:id', {
    id: 'getReplay',
    summary: 'Get the progress of a replay and the result of a what-if',
    description: 'With format=text, returns a human-readable report as plain text.',
    params: IdParams,
    query: GetReplayQuery,
    answer: {
      200: {
        description: 'The replay',
        content: { 'application/json': { schema: ReplayView }, 'text/plain': { schema: z.string() } },
      },
    },
    handle: async (deps, { tenant, params, query, reply }) => {
      const view = await replayProgress(deps, await existingReplay(deps, tenant, params.id));
      if (query.format === 'json') return view;
      return reply
        .type('text/plain; charset=utf-8')
        .serializer((text: unknown) => String(text))
        .send(replayText(view));
    },
  }),
  route('DELETE /v1/replays/:id', {
    id: 'discardReplay',
    summary: 'Discard a what-if',
    description: 'Deletes its shadow space in the background. The result stays readable.',
    params: IdParams,
    answer: { 202: ReplayView },
    handle: async (deps, { tenant, params }) => {
      const replay = await existingReplay(deps, tenant, params.id);
      if (replay.kind === 'live') throw nothingToDiscard(replay.id);
      await discardSpace(deps, replay);
      return replayProgress(deps, await existingReplay(deps, tenant, replay.id));
    },
  }),
];

/** Batches a dry run shows. */
const SAMPLE = 20;

/** null: nothing is done otherwise, and parked or undone batches are consolidated again in life. */
function changesOf(body: PostReplay): WhatIfChanges | null {
  const { filter: _filter, dry_run: _dry, idempotency_key: _key, shadow, ...fields } = body;
  const changes = changesIn(fields);
  return shadow || Object.keys(changes).length > 0 ? changes : null;
}

type ChangeFields = Omit<PostReplay, 'filter' | 'dry_run' | 'idempotency_key' | 'shadow'>;

/** What is done otherwise than was done, as a body says it. */
export function changesIn(fields: ChangeFields): WhatIfChanges {
  const { decide_instructions, recall_per_fact, prompts, models, ...rest } = fields;
  refuseUnusable({ extract: prompts?.extract ?? null, decide: prompts?.decide ?? null });
  return given({
    ...rest,
    prompts,
    models: models && given(models),
    decideInstructions: decide_instructions,
    recallPerFact: recall_per_fact,
  }) as WhatIfChanges;
}

function filterOf(filter: PostReplay['filter'], changes: WhatIfChanges | null): ReplayFilter {
  return {
    states: statesOf(filter.state, changes),
    ...given({
      ids: filter.batch_ids,
      userId: filter.user_id,
      errorCode: filter.error_code,
      since: momentOf(filter.since),
      until: momentOf(filter.until),
    }),
  };
}

/** What counts is never consolidated again in life: it would be confirmed at best. */
function statesOf(state: BatchState | undefined, changes: WhatIfChanges | null): readonly BatchState[] {
  if (changes !== null) return state === undefined ? ['consolidated', 'empty'] : [state];
  if (state === undefined || state === 'parked' || state === 'undone') return [state ?? 'parked'];
  throw problem(
    'invalid_request',
    `${state} batches cannot be replayed live; add "shadow": true, or a change such as "model", to replay them in a ` +
      'shadow space',
    { errors: [{ path: 'filter.state', message: 'expected parked or undone, unless it is a what-if' }] },
  );
}

/** The models that a what-if names. */
export const namedBy = ({ model, models = {} }: WhatIfChanges) => [
  ...(model === undefined ? [] : [{ path: 'model', model }]),
  ...namedIn(models),
];

const otherReplay = (key: string | null) =>
  problem(
    'idempotency_conflict',
    `the idempotency key ${JSON.stringify(key)} was already used with a different body; send the original body, or ` +
      'use a new key',
  );

/** The most batches that an error lists. */
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

const nothingToDiscard = (id: string) =>
  problem('conflict', `replay ${id} is a live replay and has no shadow space; only what-ifs can be discarded`);

/** Replays the parked batches of one lane. */
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

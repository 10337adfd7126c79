import type {
  EndTask,
  PatchTaskState,
  PostCanary,
  PostCanaryPromotion,
  PostCanaryUndo,
  PostFlush,
  PostForecast,
  PostKey,
  PostNight,
  PostPreview,
  PostReplay,
  PostReview,
  PostSuite,
  PostSuiteAssessments,
  PostSuiteRun,
  PostUndo,
  PutSettings,
  PutTaskState,
  RotateKey,
} from '../api.ts';
import { type CallOptions, everyPage, type Given, newKey, type Send } from '../send.ts';

type ConsolidationsQuery = NonNullable<Given<'GET /v1/consolidations'>['query']>;
type NightsQuery = NonNullable<Given<'GET /v1/nights'>['query']>;
type ReviewsQuery = NonNullable<Given<'GET /v1/reviews'>['query']>;

export const consolidationsOf = (send: Send) => ({
  get: (id: string, options?: CallOptions) => send('GET /v1/consolidations/{id}', { params: { id } }, options),
  each: (query: Omit<ConsolidationsQuery, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/consolidations', { query: { ...query, cursor } }, options)),
  /** What consolidating these messages would do; writes nothing. */
  preview: (body: PostPreview, options?: CallOptions) =>
    send('POST /v1/consolidations/preview', { body, readsOnly: true }, options),
  undo: (id: string, body: PostUndo = {}, options?: CallOptions) =>
    send('POST /v1/consolidations/{id}/undo', { params: { id }, body }, options),
  redo: (undoId: string, options?: CallOptions) =>
    send('POST /v1/undos/{id}/redo', { params: { id: undoId }, body: {} }, options),
});

export const reviewsOf = (send: Send) => ({
  each: (query: Omit<ReviewsQuery, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/reviews', { query: { ...query, cursor } }, options)),
  settle: (id: string, body: PostReview, options?: CallOptions) =>
    send('POST /v1/reviews/{id}', { params: { id }, body }, options),
});

export const nightsOf = (send: Send) => ({
  get: (id: string, options?: CallOptions) => send('GET /v1/nights/{id}', { params: { id } }, options),
  each: (query: Omit<NightsQuery, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/nights', { query: { ...query, cursor } }, options)),
  /** Applies or discards a night that waits. A night is undone as the consolidation it is. */
  decide: (id: string, body: PostNight, options?: CallOptions) =>
    send('POST /v1/nights/{id}', { params: { id }, body }, options),
  /** What would be remembered of a user who had never slept. Nothing is changed. */
  without: (userId: string, options?: CallOptions) =>
    send('GET /v1/users/{id}/without-nights', { params: { id: userId } }, options),
});

export const replaysOf = (send: Send) => ({
  /** Replays parked batches, or past ones with changes. */
  start: (body: PostReplay, options?: CallOptions) =>
    send('POST /v1/replays', { body, idempotencyKey: body.idempotency_key ?? newKey() }, options),
  get: (id: string, options?: CallOptions) => send('GET /v1/replays/{id}', { params: { id } }, options),
  discard: (id: string, options?: CallOptions) => send('DELETE /v1/replays/{id}', { params: { id } }, options),
});

export const canariesOf = (send: Send) => ({
  /** Rolls a change out to a growing share of the owners. */
  start: (body: PostCanary, options?: CallOptions) => send('POST /v1/canaries', { body }, options),
  each: (options?: CallOptions) => everyPage((cursor) => send('GET /v1/canaries', { query: { cursor } }, options)),
  get: (id: string, options?: CallOptions) => send('GET /v1/canaries/{id}', { params: { id } }, options),
  stop: (id: string, options?: CallOptions) => send('POST /v1/canaries/{id}/stop', { params: { id } }, options),
  promote: (id: string, body: PostCanaryPromotion = {}, options?: CallOptions) =>
    send('POST /v1/canaries/{id}/promote', { params: { id }, body }, options),
  /** Undoes what it wrote and consolidates it again; with dry_run it only reports. */
  undo: (id: string, body: PostCanaryUndo = {}, options?: CallOptions) =>
    send('POST /v1/canaries/{id}/undo', { params: { id }, body }, options),
});

type AuditQuery = NonNullable<Given<'GET /v1/audit'>['query']>;

type UsageQuery = NonNullable<Given<'GET /v1/usage'>['query']>;

export const settingsGroupOf = (send: Send) => ({
  get: (options?: CallOptions) => send('GET /v1/settings', {}, options),
  replace: (body: PutSettings, options?: CallOptions) => send('PUT /v1/settings', { body }, options),
});

export const keysOf = (send: Send) => ({
  /** The secret is only returned in this response. */
  make: (body: PostKey, options?: CallOptions) => send('POST /v1/keys', { body }, options),
  each: (tenant?: string, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/keys', { query: { tenant, cursor } }, options)),
  revoke: (id: string, options?: CallOptions) => send('DELETE /v1/keys/{id}', { params: { id } }, options),
  rotate: (id: string, body: RotateKey = {}, options?: CallOptions) =>
    send('POST /v1/keys/{id}/rotate', { params: { id }, body }, options),
});

export const auditOf = (send: Send) => ({
  /** Who did what, newest first. */
  each: (query: Omit<AuditQuery, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/audit', { query: { ...query, cursor } }, options)),
});

export const wholeOf = (send: Send) => ({
  /** Makes the waiting batches of an owner due now. */
  flush: (body: PostFlush, options?: CallOptions) => send('POST /v1/flush', { body, readsOnly: true }, options),
  stats: (options?: CallOptions) => send('GET /v1/stats', {}, options),
  /** What consolidating so much will use and cost. */
  forecast: (body: PostForecast, options?: CallOptions) =>
    send('POST /v1/usage/forecast', { body, readsOnly: true }, options),
  /** What model calls used and cost, group by group. */
  usage: (query: Omit<UsageQuery, 'cursor' | 'format'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/usage', { query: { ...query, format: 'json', cursor } }, options)),
});

export const suitesOf = (send: Send) => ({
  /** Records a suite from production, or takes one from a file. */
  make: (body: PostSuite, options?: CallOptions) => send('POST /v1/suites', { body }, options),
  get: (name: string, options?: CallOptions) => send('GET /v1/suites/{name}', { params: { name } }, options),
  each: (options?: CallOptions) => everyPage((cursor) => send('GET /v1/suites', { query: { cursor } }, options)),
  export: (name: string, options?: CallOptions) => send('GET /v1/suites/{name}/export', { params: { name } }, options),
  remove: (name: string, options?: CallOptions) => send('DELETE /v1/suites/{name}', { params: { name } }, options),
  run: (name: string, body: PostSuiteRun = {}, options?: CallOptions) =>
    send(
      'POST /v1/suites/{name}/runs',
      { params: { name }, body, idempotencyKey: body.idempotency_key ?? newKey() },
      options,
    ),
  runs: (name: string, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/suites/{name}/runs', { params: { name }, query: { cursor } }, options)),
  getRun: (name: string, id: string, options?: CallOptions) =>
    send('GET /v1/suites/{name}/runs/{id}', { params: { name, id } }, options),
  /** Messages of a run with the facts found in them, for people to assess. */
  sample: (
    run: { readonly name: string; readonly id: string },
    query: { readonly by?: string; readonly messages?: number } = {},
    options?: CallOptions,
  ) => send('GET /v1/suites/{name}/runs/{id}/sample', { params: run, query }, options),
  assess: (run: { readonly name: string; readonly id: string }, body: PostSuiteAssessments, options?: CallOptions) =>
    send('POST /v1/suites/{name}/runs/{id}/assessments', { params: run, body }, options),
});

type Owner = NonNullable<Given<'GET /v1/runs/{id}/state'>['query']>;
type Query = NonNullable<Given<'GET /v1/runs'>['query']>;

/** What runs work on. A write with `version` is refused with the code version_conflict if the run has another one by now. */
export const runsOf = (send: Send) => ({
  /** Runs of an owner that have a state, last changed first. */
  each: (query: Omit<Query, 'cursor'>, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/runs', { query: { ...query, cursor } }, options)),
  state: (id: string, owner: Owner = {}, options?: CallOptions) =>
    send('GET /v1/runs/{id}/state', { params: { id }, query: owner }, options),
  /** Its versions, newest first. */
  eachVersion: (id: string, owner: Owner = {}, options?: CallOptions) =>
    everyPage((cursor) =>
      send('GET /v1/runs/{id}/state/history', { params: { id }, query: { ...owner, cursor } }, options),
    ),
  /** Begins a run, or replaces the version that is named. */
  put: (id: string, { body, owner = {} }: { body: PutTaskState; owner?: Owner }, options?: CallOptions) =>
    send('PUT /v1/runs/{id}/state', { params: { id }, query: owner, body, idempotencyKey: newKey() }, options),
  /** Changes parts of the state. */
  patch: (id: string, { body, owner = {} }: { body: PatchTaskState; owner?: Owner }, options?: CallOptions) =>
    send('PATCH /v1/runs/{id}/state', { params: { id }, query: owner, body, idempotencyKey: newKey() }, options),
  end: (id: string, { body = {}, owner = {} }: { body?: EndTask; owner?: Owner } = {}, options?: CallOptions) =>
    send('POST /v1/runs/{id}/end', { params: { id }, query: owner, body, idempotencyKey: newKey() }, options),
});

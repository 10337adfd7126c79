import type { EndTask, PatchTaskState, PutTaskState } from '../api.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import { type Given, newKey, type Send } from '../send.ts';

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

import type { PostSuite, PostSuiteAssessments, PostSuiteRun } from '../api.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import { newKey, type Send } from '../send.ts';

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

import type { Batch, BatchAccepted, PostBatch } from '../api.ts';
import { SlowwaveError } from '../errors.ts';
import type { CallOptions } from '../options.ts';
import { everyPage } from '../pages.ts';
import { type Given, newKey, type Send } from '../send.ts';

/** The longest a server waits with one answer, in ms. */
const LONGEST_WAIT_MS = 60_000;
const SETTLE_WITHIN_MS = 300_000;

export type PostOptions = CallOptions & {
  /** Posting again with the same key and body is answered like the first time. Each post has one of its own else. */
  readonly idempotencyKey?: string | undefined;
};

export type SettleOptions = CallOptions & {
  /** How long to wait at most, in ms (300,000). */
  readonly withinMs?: number | undefined;
};

type Query = NonNullable<Given<'GET /v1/batches'>['query']>;

export const batchesOf = (send: Send) => ({
  /** Posts messages to remember; resolves once they are stored. Safe to be sent again, which it is by itself. */
  post: async (body: PostBatch, { idempotencyKey, ...options }: PostOptions = {}): Promise<BatchAccepted> => {
    const key = idempotencyKey ?? body.idempotency_key ?? newKey();
    return acceptedOf(await send('POST /v1/batches', { body, idempotencyKey: key }, options));
  },
  get: (id: string, options?: CallOptions) => send('GET /v1/batches/{id}', { params: { id } }, options),
  list: (query: Query = {}, options?: CallOptions) => send('GET /v1/batches', { query }, options),
  /** All batches of a list, page after page. */
  each: (query: Omit<Query, 'cursor'> = {}, options?: CallOptions) =>
    everyPage((cursor) => send('GET /v1/batches', { query: { ...query, cursor } }, options)),
  /** Waits until a batch is consolidated, empty, parked or undone. */
  settled: (id: string, options: SettleOptions = {}): Promise<Batch> => settled(send, id, options),
});

/** A repeated post may be answered with the batch itself. */
const acceptedOf = (answer: BatchAccepted | Batch): BatchAccepted =>
  'batch_id' in answer
    ? answer
    : { batch_id: answer.id, state: answer.state, status_url: `/v1/batches/${encodeURIComponent(answer.id)}` };

async function settled(
  send: Send,
  id: string,
  { withinMs = SETTLE_WITHIN_MS, ...options }: SettleOptions,
): Promise<Batch> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const waitMs = Math.max(0, Math.min(LONGEST_WAIT_MS, deadline - Date.now()));
    const batch = await send('GET /v1/batches/{id}', { params: { id }, query: { wait: waitMs }, waitMs }, options);
    if (batch.state !== 'pending' && batch.state !== 'consolidating') return batch;
    if (Date.now() >= deadline) throw notSettled(batch, withinMs);
  }
}

const notSettled = (batch: Batch, withinMs: number): SlowwaveError =>
  new SlowwaveError(
    `expected batch ${batch.id} to be done within ${withinMs} ms, it is ${batch.state}; wait longer with withinMs, or ask again`,
    { status: null, code: 'timeout', errors: [], retryable: true, requestId: null },
  );

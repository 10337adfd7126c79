import { type Cancellation, EngineError, type EngineErrorCode, type Relevance, type Reranker } from '@slowwave/engine';
import { z } from 'zod';

interface RerankOptions {
  /** The whole address, such as https://host/v1/rerank. */
  readonly url: string;
  /** null: the server has only one. */
  readonly model: string | null;
  readonly apiKey: string | null;
  /** Goes out with each request. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly extraHeaders?: Readonly<Record<string, string>>;
  /** For one request, until its last byte. */
  readonly timeoutMs: number;
}

/** Some servers send every document back; this is the most a character takes, escaped. */
const ESCAPED_BYTES = 6;

/** A reranker behind an API like those of Cohere and Jina. */
export function endpointReranker(options: RerankOptions): Reranker {
  // Only for processes that rerank, and while they start: not within the time of the first question.
  const loading = import('./system/patient-fetch.ts');
  return {
    rerank: async ({ query, documents }, cancel) => {
      const { model, extraBody } = options;
      const body = { ...(model !== null && { model }), query, documents, top_n: documents.length, ...extraBody };
      const text = JSON.stringify(body);
      const { patientFetch, ANSWER_BYTES_MAX } = await loading;
      const bytesMax = Math.max(ANSWER_BYTES_MAX, ESCAPED_BYTES * text.length);
      const answer = await exchange(options, text, {
        cancel,
        fetch: (url, init) => patientFetch(url, init, { bytesMax }),
      });
      return readRelevance(answer, documents.length);
    },
  };
}

interface Turn {
  readonly cancel: Cancellation;
  readonly fetch: typeof fetch;
}

async function exchange(options: RerankOptions, body: string, { cancel, fetch }: Turn): Promise<unknown> {
  if (cancel.aborted) throw failure('cancelled', 'but the request was cancelled');
  const abort = new AbortController();
  const hangUp = (): void => abort.abort();
  cancel.addEventListener('abort', hangUp, { once: true });
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(options.timeoutMs)]);
  try {
    const sent = { method: 'POST', headers: headersOf(options), body, signal };
    const response = await fetch(options.url, sent);
    if (!response.ok) throw refusal(response.status);
    return await response.json();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    if (cancel.aborted) throw failure('cancelled', 'but the request was cancelled', error);
    if (signal.aborted) throw failure('model_timeout', `got no answer within ${options.timeoutMs} ms`, error);
    // What cannot be read is quoted in its error: it may be what was sent.
    if (error instanceof SyntaxError) throw failure('model_server_error', 'got no JSON');
    throw failure('model_unreachable', 'got no connection', error);
  } finally {
    cancel.removeEventListener('abort', hangUp);
  }
}

const headersOf = ({ apiKey, extraHeaders }: RerankOptions): Record<string, string> => ({
  'content-type': 'application/json',
  ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  ...extraHeaders,
});

const CODES: Readonly<Record<number, EngineErrorCode>> = {
  401: 'model_misconfigured',
  403: 'model_misconfigured',
  404: 'model_misconfigured',
  405: 'model_misconfigured',
  408: 'model_timeout',
  429: 'model_overloaded',
};

function refusal(status: number): EngineError {
  if (status >= 300 && status < 400)
    return failure('model_misconfigured', `got a redirect (status ${status}), which is not followed`);
  const code = CODES[status] ?? (status >= 500 ? 'model_server_error' : 'model_rejected');
  return failure(code, `got status ${status}`);
}

/** Says nothing of the address, which may hold a key. */
const failure = (code: EngineErrorCode, got: string, cause?: unknown): EngineError =>
  new EngineError(
    `expected an answer from the reranker at SLOWWAVE_RERANK_URL, ${got}; results keep their original order`,
    {
      code,
      retryable: code !== 'model_rejected' && code !== 'model_misconfigured',
      cause,
    },
  );

const Item = z.object({ index: z.int().min(0), relevance_score: z.number().optional(), score: z.number().optional() });
const Answer = z.union([
  z.object({ results: z.array(Item) }).transform(({ results }) => results),
  z.object({ data: z.array(Item) }).transform(({ data }) => data),
]);

/** The scores of an answer, each document once; those of documents that were not sent are left out. */
function readRelevance(body: unknown, documents: number): readonly Relevance[] {
  const parsed = Answer.safeParse(body);
  if (!parsed.success) throw unusable();
  const scores = new Map<number, number>();
  for (const { index, relevance_score, score } of parsed.data) {
    const given = relevance_score ?? score;
    if (index < documents && given !== undefined && Number.isFinite(given) && !scores.has(index))
      scores.set(index, given);
  }
  return [...scores].map(([index, score]) => ({ index, score }));
}

const unusable = (): EngineError =>
  new EngineError(
    'expected the reranker to answer with {"results":[{"index","relevance_score"}]}, got something else; check SLOWWAVE_RERANK_URL',
    { code: 'model_server_error', retryable: true },
  );

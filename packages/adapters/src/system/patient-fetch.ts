import { EngineError } from '@slowwave/engine';
import { Agent } from 'undici';

/**
 * Node's own fetch hangs up on a server after four quiet seconds, and the next search pays for a new connection: with TLS
 * as much as for the embedding itself. Below the minute after which load balancers drop what is quiet.
 */
const KEPT_OPEN_MS = 30_000;

/**
 * Bytes of an answer, unpacked, unless its caller expects more. Models write 128,000 tokens at most, half a megabyte of
 * English: with every character escaped, and as much reasoning beside it, that still fits.
 */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** How long answers may be, in bytes. */
export interface Longest {
  /** Missing: ANSWER_BYTES_MAX. */
  readonly bytesMax?: number;
  /** One that is sent while it is written: what stands around each word is many times as long. Missing: as any other. */
  readonly streamBytesMax?: number;
}

const dispatcher = new Agent({
  keepAliveTimeout: KEPT_OPEN_MS,
  keepAliveMaxTimeout: KEPT_OPEN_MS,
  // A model may think for longer than the five minutes of these; whoever asks has a timeout for every byte.
  headersTimeout: 0,
  bodyTimeout: 0,
});

/**
 * fetch that keeps its connections for longer. A model's server is not believed: a redirect is an answer like any other, and
 * whoever sends more bytes than are expected is cut off there.
 */
export async function patientFetch(
  url: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1],
  { bytesMax = ANSWER_BYTES_MAX, streamBytesMax = bytesMax }: Longest = {},
): Promise<Response> {
  // Types of the version that Node has built in differ in what is not used here.
  const response = await fetch(url, { ...init, redirect: 'manual', dispatcher } as unknown as RequestInit);
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  const limit = isStream(headers) ? streamBytesMax : bytesMax;
  return new Response(body.pipeThrough(upTo(limit)), { status, statusText, headers });
}

/** Whether an answer comes as events, while it is written. */
export const isStream = (headers: Headers): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

function upTo(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes <= bytesMax) controller.enqueue(chunk);
      else controller.error(tooLong(bytesMax));
    },
  });
}

export const tooLong = (bytesMax: number): EngineError =>
  new EngineError(
    `expected an answer of at most ${bytesMax} bytes from the model's server, got more; the answer was discarded. ` +
      'If this persists, lower the output limit or use another model.',
    { code: 'model_output_unusable', retryable: true },
  );

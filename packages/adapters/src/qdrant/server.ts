import { setTimeout as sleep } from 'node:timers/promises';
import {
  QdrantClient,
  QdrantClientResourceExhaustedError,
  QdrantClientTimeoutError,
  QdrantClientUnexpectedResponseError,
} from '@qdrant/js-client-rest';
import { EngineError, type Log } from '@slowwave/engine';
import { type Keeping, namesOf } from './collections.ts';

/** A search or a write of 256 points takes well under a second; the client's own limit is five minutes. */
const CALL_LIMIT_MS = 10_000;
/** Making and dropping collections waits for disks, and in a cluster for its members. */
const MANAGE_LIMIT_MS = 120_000;
/** Waits before the second, third and fourth try: long enough for a restart of a small server. */
const RETRY_MS = [200, 800, 2_500] as const;

/** A server and how to call it: with retries, in time, and with errors that the engine knows. */
export interface QdrantServer {
  readonly place: string;
  /** Reads and idempotent writes of points. */
  call<T>(ask: (client: QdrantClient) => Promise<T>): Promise<T>;
  /** The same for what takes longer: collections, aliases, payload indexes. */
  manage<T>(ask: (client: QdrantClient) => Promise<T>): Promise<T>;
  /** Refuses further calls. Connections are the client's; idle ones end by themselves. */
  close(): void;
}

export interface QdrantOptions {
  /** Where the server is. A path is kept: a proxy may serve it there. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly dimensions: number;
  /** Names the vector space: vectors of two fingerprints never share a collection. */
  readonly fingerprint: string;
  readonly log: Log;
  /** The name of the index on its server, for several installations on one; the names of its collections begin with it. */
  readonly alias?: string;
  readonly quantized?: boolean;
  readonly onDisk?: boolean;
  /** Over so many common shards tenants are spread, so that large ones can have their own; 0: the server shards as it does by itself. */
  readonly shards?: number;
}

const ALIAS = 'slowwave';

interface Connected {
  readonly server: QdrantServer;
  readonly keeping: Keeping;
  readonly abilities: Abilities;
}

/** The server of the options, known to answer and to be new enough. */
export async function connected(options: QdrantOptions): Promise<Connected> {
  const { alias = ALIAS, quantized = false, onDisk = false, shards = 0, dimensions, fingerprint } = options;
  const server = connectQdrant(options);
  const { version } = await server.call((client) => client.versionInfo());
  const keeping = { names: namesOf({ alias, dimensions, fingerprint, shards }), dimensions, quantized, onDisk };
  return { server, keeping, abilities: abilitiesOf(version, server.place) };
}

function connectQdrant({ url, apiKey }: { url: string; apiKey: string | null }): QdrantServer {
  const { place, ...address } = addressOf(url);
  const client = (timeout: number): QdrantClient =>
    new QdrantClient({
      ...address,
      timeout,
      checkCompatibility: false, // it writes to the console; the version is checked at the start
      ...(apiKey === null ? {} : { headers: { 'api-key': apiKey } }), // as `apiKey` it writes to the console without TLS
    });
  const [calling, managing] = [client(CALL_LIMIT_MS), client(MANAGE_LIMIT_MS)];
  let closed = false;
  const through =
    (through: QdrantClient) =>
    async <T>(ask: (client: QdrantClient) => Promise<T>): Promise<T> => {
      if (closed) throw closedError(place);
      return tried(() => ask(through), place);
    };
  return {
    place,
    call: through(calling),
    manage: through(managing),
    close: () => {
      closed = true;
    },
  };
}

/** Again while the server is out of reach or busy. Not after silence: that took its time already. */
async function tried<T>(ask: () => Promise<T>, place: string): Promise<T> {
  for (const wait of RETRY_MS) {
    try {
      return await ask();
    } catch (error) {
      if (!isWorthRetry(error)) throw asIndexError(error, place);
      await sleep(waitOf(error, wait));
    }
  }
  try {
    return await ask();
  } catch (error) {
    throw asIndexError(error, place);
  }
}

function isWorthRetry(error: unknown): boolean {
  if (error instanceof QdrantClientTimeoutError) return false;
  const refusal = refusalOf(error);
  return refusal !== null && (refusal.status === null || isBusy(refusal.status));
}

/** Spread, so that callers that failed together come back apart. Longer waits that a server asks for are the engine's. */
function waitOf(error: unknown, wait: number): number {
  const asked = error instanceof QdrantClientResourceExhaustedError ? error.retry_after * 1_000 : 0;
  return Math.max(Math.min(asked, CALL_LIMIT_MS), wait * (0.5 + Math.random()));
}

function closedError(place: string): EngineError {
  return new EngineError(`the index on Qdrant at ${place} is closed in this process; open it again`, {
    code: 'index_unavailable',
    retryable: true,
  });
}

/** Where a server is, as its client takes it. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly https: boolean;
  readonly prefix: string;
  /** For people. */
  readonly place: string;
}

/**
 * Takes a URL apart by the rules of URLs: given one, the client would turn https://host into port 6333 and drop a path
 * behind which a proxy may serve Qdrant.
 */
export function addressOf(text: string): Address {
  const url = URL.parse(text);
  const https = url?.protocol === 'https:';
  if (url === null || (!https && url.protocol !== 'http:'))
    throw unusable('a URL that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw unusable('a URL without user and password (use QDRANT_API_KEY)');
  if (url.search !== '' || url.hash !== '') throw unusable('a URL without ? and #');
  const port = url.port === '' ? (https ? 443 : 80) : Number(url.port);
  const prefix = url.pathname.replace(/\/+$/, '');
  return { host: url.hostname, port, https, prefix, place: `${url.protocol}//${url.hostname}:${port}${prefix}` };
}

/** The text itself is not repeated: it may hold a secret. */
function unusable(expected: string): EngineError {
  return new EngineError(`expected ${expected} as QDRANT_URL, e.g. http://127.0.0.1:6333; correct it`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

/** Conditional upserts and weighted sparse vectors are as this adapter needs them from here on. */
const OLDEST = { major: 1, minor: 18 };
/** From here on a question can say over which points the rarity of a term is counted. */
const TENANT_STATISTICS = { major: 1, minor: 19 };

type Version = typeof OLDEST;

interface Abilities {
  /** The rarity of a term can be counted over one tenant's points. */
  readonly tenantStatistics: boolean;
}

/** What a server of some version can do; throws for one that is too old. */
function abilitiesOf(version: unknown, place: string): Abilities {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(typeof version === 'string' ? version : '') ?? [];
  if (major === undefined || minor === undefined) throw refused(place, 'a server that reports no version');
  const given = { major: Number(major), minor: Number(minor) };
  if (!atLeast(given, OLDEST)) throw refused(place, String(version));
  return { tenantStatistics: atLeast(given, TENANT_STATISTICS) };
}

const atLeast = (given: Version, wanted: Version): boolean =>
  given.major > wanted.major || (given.major === wanted.major && given.minor >= wanted.minor);

function refused(place: string, got: string): EngineError {
  return new EngineError(
    `expected Qdrant ${OLDEST.major}.${OLDEST.minor} or newer at ${place}, got ${got}; upgrade the server or correct QDRANT_URL`,
    { code: 'index_unavailable', retryable: false },
  );
}

/** What a failed call to the server was. */
interface Refusal {
  /** null: no answer came. */
  readonly status: number | null;
  readonly detail: string;
}

/** For answers that are none: somebody between here and the server speaks for it. */
const BAD_GATEWAY = 502;

/** What the client threw, in two facts; null for what has nothing to do with the server. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof QdrantClientResourceExhaustedError) return { status: 429, detail: error.message };
  if (error instanceof QdrantClientTimeoutError) return { status: null, detail: 'no answer in time' };
  if (error instanceof QdrantClientUnexpectedResponseError) return { status: BAD_GATEWAY, detail: error.message };
  if (error instanceof SyntaxError) return { status: BAD_GATEWAY, detail: 'an answer that is not JSON' };
  if (!(error instanceof Error)) return null;
  if ('status' in error && typeof error.status === 'number') return { status: error.status, detail: detailOf(error) };
  // The platform's fetch says only that it failed; why is in its cause.
  if (error instanceof TypeError) return { status: null, detail: causeOf(error) };
  return null;
}

/** Anything thrown by a call, as the engine knows it. */
function asIndexError(error: unknown, place: string): EngineError {
  if (error instanceof EngineError) return error;
  const refusal = refusalOf(error);
  if (refusal !== null) return explained(refusal, place, error);
  const message = error instanceof Error ? error.message : String(error);
  return new EngineError(`the index on Qdrant failed: ${message}`, {
    code: 'internal',
    retryable: false,
    cause: error,
  });
}

function explained({ status, detail }: Refusal, place: string, cause: unknown): EngineError {
  const { message, retryable } = explain(status, detail, place);
  return new EngineError(message, { code: 'index_unavailable', retryable, cause });
}

interface Explained {
  readonly message: string;
  readonly retryable: boolean;
}

function explain(status: number | null, detail: string, place: string): Explained {
  if (status === null) {
    const message = `expected Qdrant at ${place} to answer, got: ${detail}; check that it is running and can be reached from here`;
    return { message, retryable: true };
  }
  if (isBusy(status)) {
    const message = `expected Qdrant at ${place} to process the request, got HTTP ${status}: ${detail}; it will be retried`;
    return { message, retryable: true };
  }
  if (status === 401 || (status === 403 && /api key|token|access|forbidden/i.test(detail))) {
    const message = `expected Qdrant at ${place} to accept the key, got HTTP ${status}: ${detail}; correct QDRANT_API_KEY`;
    return { message, retryable: false };
  }
  return explainRequest(status, detail, place);
}

/** The server is there and well, and says that the request does not fit what it holds. */
function explainRequest(status: number, detail: string, place: string): Explained {
  if (status === 404 && /doesn't exist|not found/i.test(detail)) {
    const message = `expected the index on Qdrant at ${place}, got: ${detail}; restart the worker, which rebuilds it from the ledger`;
    return { message, retryable: true };
  }
  if (/distributed (mode|deployment)/i.test(detail)) {
    const message = `expected Qdrant at ${place} in cluster mode, which tenant shards require, got: ${detail}; start it with QDRANT__CLUSTER__ENABLED=true and --uri, or remove SLOWWAVE_QDRANT_SHARDS`;
    return { message, retryable: false };
  }
  if (/vector name/i.test(detail)) {
    const message = `expected the index at ${place} to be built with this embedding model, got one of another model (${detail}); restart with the settings it was built with, or rebuild it`;
    return { message, retryable: true };
  }
  if (/dimension/i.test(detail)) {
    const message = `expected vectors of the index's dimensions at ${place}, got others (${detail}); check SLOWWAVE_EMBEDDING_DIMENSIONS or rebuild the index`;
    return { message, retryable: false };
  }
  if (/index required/i.test(detail)) {
    const message = `expected every filter field to be indexed at ${place}, got: ${detail}; restart the process, which creates missing indexes`;
    return { message, retryable: false };
  }
  return {
    message: `expected Qdrant at ${place} to accept the request, got HTTP ${status}: ${detail}`,
    retryable: false,
  };
}

/** Answers of a server, or of a proxy before it, that has too much to do or is just starting. */
const isBusy = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** Servers explain themselves in JSON; proxies in pages, of which the status has to do. */
function detailOf(error: Error & { readonly data?: unknown; readonly statusText?: unknown }): string {
  const status = (error.data as { status?: { error?: unknown } } | null | undefined)?.status?.error;
  if (typeof status === 'string') return status;
  const text = typeof error.data === 'string' && !error.data.includes('<') ? error.data.trim() : '';
  return (text || String(error.statusText ?? '') || error.message).slice(0, DETAIL_CHARACTERS);
}

const DETAIL_CHARACTERS = 300;

function causeOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  const code = 'code' in cause ? String(cause.code) : '';
  const inner = cause instanceof AggregateError ? cause.errors.map(String).join(', ') : cause.message;
  return [code, inner].filter(Boolean).join(' ') || message;
}

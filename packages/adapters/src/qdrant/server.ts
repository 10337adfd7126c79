import { setTimeout as sleep } from 'node:timers/promises';
import { QdrantClient, QdrantClientResourceExhaustedError, QdrantClientTimeoutError } from '@qdrant/js-client-rest';
import { EngineError } from '@slowwave/engine';
import { addressOf } from './address.ts';
import { asIndexError, isBusy, refusalOf } from './errors.ts';

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

export function connectQdrant({ url, apiKey }: { url: string; apiKey: string | null }): QdrantServer {
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

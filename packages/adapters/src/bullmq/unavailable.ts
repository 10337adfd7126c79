import { EngineError } from '@slowwave/engine';

/** Longer than any queue call under load; a server that froze without closing its sockets is noticed by this alone. */
const CALL_LIMIT_MS = 10_000;

/** Runs one call to the queue; every failure of it, and silence, becomes EngineError 'queue_unavailable'. */
export async function callQueue<T>(place: string, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${CALL_LIMIT_MS} ms`)), CALL_LIMIT_MS);
  });
  try {
    return await Promise.race([call(), silence]);
  } catch (error) {
    throw unavailable(place, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The queue server does not answer; the same call may succeed when it is back. */
export function unavailable(place: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const advice = /certificate/i.test(reason)
    ? 'name the certificate of the authority that signed its own in NODE_EXTRA_CA_CERTS'
    : 'check that it runs and can be reached from here';
  return new EngineError(`expected the queue at ${place} to answer, got: ${reason}; ${advice}`, {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
    cause: error,
  });
}

import { EngineError, type Log } from '@slowwave/engine';

/** Longer than any queue call under load; a server that froze without closing its sockets is noticed by this alone. */
const CALL_LIMIT_MS = 10_000;
/** While it is silent: long enough to notice that it answers again, short enough that nobody waits for nothing. */
const SILENT_LIMIT_MS = 2_000;

/** Whether a queue server answers this process, as calls and connections show. */
export interface Pulse {
  /** It answered, be it that nobody is there. */
  heard(): void;
  /** Something was sent, and nothing came back in time. */
  missed(): void;
  isSilent(): boolean;
}

/** A server that a call goes to. */
export interface CalledQueue {
  readonly place: string;
  readonly pulse: Pulse;
}

export function newPulse(): Pulse {
  let silent = false;
  return {
    heard: () => {
      silent = false;
    },
    missed: () => {
      silent = true;
    },
    isSilent: () => silent,
  };
}

/** Runs one call to the queue; every failure of it, and silence, becomes EngineError 'queue_unavailable'. */
export async function callQueue<T>({ place, pulse }: CalledQueue, call: () => Promise<T>): Promise<T> {
  const limitMs = pulse.isSilent() ? SILENT_LIMIT_MS : CALL_LIMIT_MS;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      pulse.missed();
      reject(new Error(`no answer for ${limitMs} ms`));
    }, limitMs);
  });
  try {
    const answer = await Promise.race([call(), silence]);
    pulse.heard();
    return answer;
  } catch (error) {
    throw unavailable(place, error);
  } finally {
    clearTimeout(timer);
  }
}

/** What a connection reports beside calls: a server that refuses is away, which no new start of this process would mend. */
function feel(pulse: Pulse, error: Error): void {
  const code = 'code' in error ? error.code : null;
  if (code === 'ETIMEDOUT' || /^Socket timeout/.test(error.message)) pulse.missed();
  if (code === 'ECONNREFUSED') pulse.heard();
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/certificate/i, 'name the certificate of the authority that signed its own in NODE_EXTRA_CA_CERTS'],
  [
    /too many clients|remaining connection slots/i,
    'raise its max_connections, or lower SLOWWAVE_DATABASE_CONNECTIONS of each process (see docs/operations.md)',
  ],
];

/** The queue server does not answer; the same call may succeed when it is back. */
export function unavailable(place: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const [, advice = 'check that it is running and can be reached from here'] =
    ADVICE.find(([sign]) => sign.test(reason)) ?? [];
  return new EngineError(`expected the queue at ${place} to answer, got: ${reason}; ${advice}`, {
    code: 'queue_unavailable',
    retryable: true,
    countsAsTry: false,
    cause: error,
  });
}

/** A server that is away makes an error per reconnect and connection: one line per 10 s says it as well. */
const QUIET_MS = 10_000;

interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Logs the errors a queue or worker reports beside its calls, at most once per 10 s; they never end the process. */
export function logErrorsQuietly(source: ErrorSource, { place, pulse }: CalledQueue, log: Log): void {
  let quietUntil = 0;
  let suppressed = 0;
  source.on('error', (error) => {
    feel(pulse, error);
    if (Date.now() < quietUntil) {
      suppressed += 1;
      return;
    }
    log.warn(
      { place, error: error.message, suppressed },
      'the queue reports a problem; work continues when it is resolved',
    );
    quietUntil = Date.now() + QUIET_MS;
    suppressed = 0;
  });
}

/** Where a request was wrong. */
export interface Mistake {
  readonly path: string;
  readonly message: string;
}

interface Facts {
  /** The HTTP status; null: no answer came. */
  readonly status: number | null;
  /** Stable: the server's own, or `no_answer`, `timeout`, `not_slowwave`. */
  readonly code: string;
  readonly errors: readonly Mistake[];
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;
  readonly cause?: unknown;
}

/** Why a call failed. Its message says what was expected, what was got, and what to do. */
export class SlowwaveError extends Error {
  readonly status: number | null;
  readonly code: string;
  readonly errors: readonly Mistake[];
  readonly retryable: boolean;
  readonly requestId: string | null;

  constructor(message: string, { cause, ...facts }: Facts) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SlowwaveError';
    this.status = facts.status;
    this.code = facts.code;
    this.errors = facts.errors;
    this.retryable = facts.retryable;
    this.requestId = facts.requestId;
  }
}

/** Statuses after which the same request may succeed later. */
const PASSING = new Set([408, 429, 502, 503, 504]);

/** The error in a response without success. */
export async function errorOf(answer: Response): Promise<SlowwaveError> {
  const { status } = answer;
  const requestId = answer.headers.get('x-request-id');
  const body = problemIn(await answer.text());
  return new SlowwaveError(body?.detail ?? `expected Slowwave to answer, got status ${status}; check the url`, {
    status,
    code: body?.code ?? 'not_slowwave',
    errors: body?.errors ?? [],
    retryable: PASSING.has(status),
    requestId,
  });
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly Mistake[];
}

function problemIn(text: string): Problem | null {
  try {
    const body: unknown = JSON.parse(text);
    const isProblem = typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
    return isProblem ? (body as Problem) : null;
  } catch {
    return null; // a proxy's own page
  }
}

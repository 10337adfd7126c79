import { ERROR_STATUS, type ErrorCode, type Problem } from '@slowwave/contracts';

export interface InputMistake {
  readonly path: string;
  readonly message: string;
}

interface Extras {
  readonly errors?: readonly InputMistake[];
  readonly dependents?: Problem['dependents'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failure the caller is told about: a stable code and a sentence with what was expected, got, and what to do. */
export class ProblemError extends Error {
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly errors: readonly InputMistake[];
  readonly dependents: Problem['dependents'];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, detail: string, extras: Extras = {}) {
    super(detail, { cause: extras.cause });
    this.name = 'ProblemError';
    this.code = code;
    this.statusCode = ERROR_STATUS[code];
    this.errors = extras.errors ?? [];
    this.dependents = extras.dependents;
    this.headers = extras.headers ?? {};
  }
}

export function problem(code: ErrorCode, detail: string, extras: Extras = {}): ProblemError {
  return new ProblemError(code, detail, extras);
}

/** A resource the caller named does not exist, or is not theirs: the two are not told apart. */
export function notFound(kind: string, id: string): ProblemError {
  return problem('not_found', `there is no ${kind} ${JSON.stringify(shorten(id))}; check the id`);
}

/** The body of an answer, RFC 9457. */
export function problemBody(error: ProblemError, instance: string): Problem {
  return {
    type: `urn:slowwave:problem:${error.code}`,
    title: error.code.replaceAll('_', ' '),
    status: error.statusCode,
    code: error.code,
    detail: error.message,
    instance,
    ...(error.dependents !== undefined && { dependents: error.dependents }),
    ...(error.errors.length > 0 && { errors: error.errors.map(({ path, message }) => ({ path, message })) }),
  };
}

/** Longest piece of a caller's text an answer repeats, in characters. */
const ECHO_MAX = 80;
export const shorten = (text: string): string => (text.length > ECHO_MAX ? `${text.slice(0, ECHO_MAX)}…` : text);

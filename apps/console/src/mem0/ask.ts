import type { Problem } from '@slowwave/contracts';
import type { App, FastifyRequest } from '@slowwave/http';

/** A request to our own API. */
interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

/** Asks our own API on behalf of who asks here: with the same key, so that nothing is allowed here that is not there. */
export type Ask = <Answer>(request: FastifyRequest, call: Call) => Promise<Answer>;

/** What our own API refused, to be told in mem0's form. */
export class RefusedError extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    { code, detail }: Pick<Problem, 'code' | 'detail'>,
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.name = 'RefusedError';
    this.statusCode = status;
    this.code = code;
    this.headers = headers;
  }
}

/** The routes of this app, asked without a network in between. */
export const asking =
  (open: () => Promise<App>): Ask =>
  async (request, { method, path, body }) => {
    const { authorization, host } = request.headers;
    const rooms = await open();
    const answer = await rooms.inject({
      method,
      url: path,
      // One id for both, so that the audit log tells of the request that its caller knows.
      headers: {
        host: host ?? 'localhost',
        'x-request-id': request.id,
        ...(authorization !== undefined && { authorization }),
      },
      ...(body !== undefined && { payload: body }),
    });
    if (answer.statusCode < 400) return answer.json();
    const wait = answer.headers['retry-after'];
    throw new RefusedError(
      answer.statusCode,
      answer.json<Problem>(),
      wait === undefined ? {} : { 'retry-after': String(wait) },
    );
  };

import { type App, type HttpLog, problem, readToTheEnd, report } from '@slowwave/http';
import { RefusedError } from './ask.ts';

/** Mistakes as mem0's API tells them: one sentence, under both names that its clients look at. */
export function answerErrorsLikeMem0(app: App, log: HttpLog): void {
  app.setErrorHandler((thrown, request, reply) => {
    const told = thrown instanceof RefusedError ? thrown : report(thrown, request, log);
    const { message, code, statusCode, headers } = told;
    readToTheEnd(reply, code);
    return reply.code(statusCode).headers(headers).send({ error: message, detail: message, code });
  });
}

/** A field of mem0's API that has no counterpart here is refused: ignoring it would be a promise not kept. */
export const unsupported = (field: string, instead: string) =>
  problem('invalid_request', `${field} is not supported by this server; ${instead}`);

import { checkQueue } from '@slowwave/adapters/bullmq';
import { PROBLEM_TYPE, problem, report } from '@slowwave/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleDeps } from '../deps.ts';
import { boardProblem } from './board-problem.ts';
import { retryFailed, retryOne } from './retry.ts';

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Lets requests that only look pass, answers retries itself, and refuses everything else: the queue is a schedule of
 * the ledger's work, and what is deleted or changed here would come back or be lost.
 */
export function guard(deps: ConsoleDeps, basePath: string): Hook {
  return async (request, reply) => {
    const path = request.routeOptions.url?.slice(basePath.length);
    try {
      // The library's errors do not say that a server is away; the page itself is there without it.
      if (path?.startsWith('/api/') === true) await Promise.all(deps.queues.map(checkQueue));
      if (request.method === 'GET' || request.method === 'HEAD') return;
      return await act(deps, path, { request, reply });
    } catch (error) {
      const told = report(error, request, deps.log);
      return reply
        .code(told.statusCode)
        .headers(told.headers)
        .type(PROBLEM_TYPE)
        .send(JSON.stringify(boardProblem(told)));
    }
  };
}

async function act(deps: ConsoleDeps, action: string | undefined, on: Exchange): Promise<unknown> {
  const params = on.request.params as Readonly<Record<string, string>>;
  const { queueName = '', jobId = '', queueStatus } = params;
  if (action === '/api/queues/:queueName/:jobId/retry') {
    await retryOne(deps, queueName, jobId);
    return on.reply.code(204).send();
  }
  if (action === '/api/queues/:queueName/retry/:queueStatus' && queueStatus === 'failed') {
    return on.reply.send(await retryFailed(deps, queueName));
  }
  throw problem(
    'method_not_allowed',
    'queues are read-only here, except that failed turns can be retried: the ledger decides what is scheduled; use ' +
      'POST /v1/replays to replay parked batches',
    { headers: { allow: 'GET, HEAD' } },
  );
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

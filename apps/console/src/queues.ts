import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { checkQueue, shardOf } from '@slowwave/adapters/bullmq';
import { QUEUES } from '@slowwave/contracts';
import type { LaneId } from '@slowwave/engine';
import {
  allowPages,
  needScope,
  notFound,
  PROBLEM_TYPE,
  type ProblemError,
  problem,
  problemBody,
  type Routes,
  report,
  translate,
} from '@slowwave/http';
import type { Job, JobType, Queue } from 'bullmq';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleDeps } from './deps.ts';

const BASE_PATH = '/queues';

const BOARD = {
  // A queue in process has no workers or server to show.
  showWorkers: false,
  hideRedisDetails: true,
  /** Other pages for people. */
  miscLinks: [
    { text: 'What waits, and why', url: '/' },
    { text: 'API', url: '/docs/' },
    { text: 'Sign in or out', url: '/login' },
  ],
};

/** bull-board under /queues: read-only, except that failed turns can be retried. */
export const queuePages =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'operator');
    allowPages(app);
    app.addHook('preHandler', guard(deps, BASE_PATH));
    app.addHook('onSend', async (_request, reply, payload) =>
      String(reply.getHeader('content-type')).startsWith('text/html') ? withoutForeignLinks(payload) : payload,
    );
    await app.register(board(deps).registerPlugin(), { prefix: BASE_PATH });
    app.get<{ Params: { lane: string } }>(`${BASE_PATH}/of/:lane`, { schema: { hide: true } }, async (request, reply) =>
      reply.redirect(await newestOf(deps, request.params.lane), 303),
    );
  };

/** What may have become of a job, as an operator wants to see it: what failed comes first. */
const STATES: readonly JobType[] = ['failed', 'active', 'waiting', 'prioritized', 'delayed', 'completed'];

/** Where the board shows the turn of a lane. Without one it is idle, or its jobs are long gone: then where turns are listed. */
async function newestOf(deps: ConsoleDeps, lane: string): Promise<string> {
  const names = deps.queues.map(({ name }) => name).filter(isOfTurns);
  const name = names[shardOf(lane, names.length)] ?? QUEUES.consolidate.name;
  const queue = queueOf(deps, name);
  await checkQueue(queue);
  for (const state of STATES) {
    const id = (await queue.getRanges([state], 0, -1)).find((job) => job.startsWith(`${lane}~`));
    if (id !== undefined) return `${BASE_PATH}/queue/${name}/${encodeURIComponent(id)}`;
  }
  return `${BASE_PATH}/queue/${name}`;
}

/** Turns may be spread over several queues, which are listed in their order. */
const isOfTurns = (name: string): boolean =>
  name === QUEUES.consolidate.name || name.startsWith(`${QUEUES.consolidate.name}-`);

function board(deps: ConsoleDeps): FastifyAdapter {
  const adapter = new FastifyAdapter();
  createBullBoard({
    queues: deps.queues.map((queue) => new BullMQAdapter(queue, { externalJobUrl: batchesOf })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Slowwave queues', hideDocsLink: true, ...BOARD } },
  });
  // The board's own handler would expose internals.
  return adapter.setBasePath(BASE_PATH).setErrorHandler((error) => {
    const failure = translate(error);
    if (failure.statusCode >= 500) deps.log.error({ err: error }, 'queue page failed');
    return { status: failure.statusCode as 400 | 500, body: boardProblem(failure) };
  });
}

/** Where the console shows what a job is about. */
const batchesOf = ({ data }: { readonly data: unknown }) => {
  const lane = typeof data === 'object' && data !== null && 'lane' in data ? String(data.lane) : null;
  return lane === null
    ? { displayText: 'Work', href: '/work' }
    : { displayText: 'Batches', href: `/work?${new URLSearchParams({ lane })}` };
};

/** The board's page loads a font from another host, which would learn who opens it. */
function withoutForeignLinks(page: unknown): unknown {
  if (typeof page !== 'string' && !Buffer.isBuffer(page)) return page;
  return page.toString().replaceAll(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, '');
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * Allows reads, handles retries itself, and refuses everything else: the queue is a schedule of the ledger's work, and
 * changes here would be reverted or lose work.
 */
function guard(deps: ConsoleDeps, basePath: string): Hook {
  return async (request, reply) => {
    const path = request.routeOptions.url?.slice(basePath.length);
    try {
      // The library does not report an unavailable server; the page itself works without it.
      if (path?.startsWith('/api/') === true) await Promise.all(deps.queues.map(checkQueue));
      if (request.method === 'GET' || request.method === 'HEAD') return;
      return await act(deps, path, { request, reply });
    } catch (error) {
      const failure = report(error, request, deps.log);
      return reply
        .code(failure.statusCode)
        .headers(failure.headers)
        .type(PROBLEM_TYPE)
        .send(JSON.stringify(boardProblem(failure)));
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

/** A problem with the fields that the board's page shows. */
const boardProblem = (error: ProblemError) => ({
  ...problemBody(error, '/queues'),
  error: { key: error.statusCode < 500 ? 'ERRORS.FORBIDDEN' : 'ERRORS.INTERNAL_SERVER_ERROR' },
  message: error.message,
});

/** The most failed turns that one request retries. */
const RETRY_MAX = 1_000;

/**
 * A failed turn is over and its lane has moved on, so running the job again would do nothing. Its parked batches are
 * replayed instead.
 */
async function retryOne(deps: ConsoleDeps, queueName: string, jobId: string): Promise<void> {
  const queue = queueOf(deps, queueName);
  const job: Job | undefined = await queue.getJob(jobId);
  if (job === undefined) throw notFound('job', jobId);
  const state = await job.getState();
  if (state !== 'failed') {
    throw problem('conflict', `only failed turns can be retried, and ${jobId} is ${state}`);
  }
  if ((await replay(deps, job)) > 0) return;
  throw problem('conflict', `the lane of ${jobId} has no parked batches; there is nothing to retry`);
}

/** Retries all failed turns of a queue. Several turns of a lane replay its batches once. */
async function retryFailed(deps: ConsoleDeps, queueName: string): Promise<{ retried: number; skipped: number }> {
  const jobs: Job[] = await queueOf(deps, queueName).getFailed(0, RETRY_MAX - 1);
  let retried = 0;
  for (const job of jobs) retried += (await replay(deps, job)) > 0 ? 1 : 0;
  return { retried, skipped: jobs.length - retried };
}

function queueOf(deps: ConsoleDeps, name: string): Queue {
  const queue = deps.queues.find((known) => known.name === name);
  if (queue === undefined) throw notFound('queue', name);
  return queue;
}

/** The replay removes all failed jobs of the lane in a moment; whoever looks next should not see this one any more. */
async function replay(deps: ConsoleDeps, job: Job): Promise<number> {
  const payload = QUEUES.consolidate.payload.safeParse(job.data);
  if (!payload.success) throw problem('conflict', `job ${job.id} is not a turn of a lane and cannot be retried`);
  const replayed = await deps.replayLane(payload.data.lane as LaneId);
  if (replayed > 0) await queueOf(deps, job.queueName).remove(job.id ?? '');
  return replayed;
}

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
} from '@slowwave/http';
import type { Job, JobType, Queue } from 'bullmq';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleDeps } from './deps.ts';

const BASE_PATH = '/queues';
const API = `${BASE_PATH}/api/queues`;

/** bull-board under /queues: read-only, except that failed turns can be retried. */
export const queuePages =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'operator');
    allowPages(app);
    const answered = answering(deps);
    const shown = answered(pageOf(deps, (close) => app.addHook('onClose', close)));
    const schema = { hide: true };
    for (const path of [BASE_PATH, `${BASE_PATH}/*`]) app.get(path, { schema }, shown);
    app.get<{ Params: { lane: string } }>(`${BASE_PATH}/of/:lane`, { schema }, async (request, reply) =>
      reply.redirect(await newestOf(deps, request.params.lane), 303),
    );
    app.put(
      `${API}/:queueName/:jobId/retry`,
      { schema },
      answered(async (request, reply) => {
        const { queueName, jobId } = request.params as { queueName: string; jobId: string };
        await retryOne(deps, queueName, jobId);
        return reply.code(204).send();
      }),
    );
    app.put(
      `${API}/:queueName/retry/failed`,
      { schema },
      answered(async (request, reply) =>
        reply.send(await retryFailed(deps, (request.params as { queueName: string }).queueName)),
      ),
    );
    app.route({ method: ['PUT', 'POST', 'PATCH', 'DELETE'], url: `${BASE_PATH}/*`, schema, handler: answered(refuse) });
  };

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Tells of failures as the board's page shows them, and of a server that is not available, which the library does not. */
const answering =
  (deps: ConsoleDeps) =>
  (handler: Handler): Handler =>
  async (request, reply) => {
    try {
      // The page itself works without it.
      if (request.url.startsWith(API)) await Promise.all(deps.queues.map(checkQueue));
      return await handler(request, reply);
    } catch (error) {
      const failure = report(error, request, deps.log);
      return reply
        .code(failure.statusCode)
        .headers(failure.headers)
        .type(PROBLEM_TYPE)
        .send(JSON.stringify(boardProblem(failure)));
    }
  };

/**
 * What the board shows. The board brings a hundred files and is seldom looked at, so it is loaded by the first who does.
 */
function pageOf(deps: ConsoleDeps, onClose: (close: () => Promise<void>) => void): Handler {
  let board: Promise<FastifyInstance> | null = null;
  onClose(async () => (await board?.catch(() => null))?.close());
  return async (request, reply) => {
    board ??= import('./queue-board.ts').then(({ openBoard }) =>
      openBoard(deps, { basePath: BASE_PATH, problem: boardProblem }),
    );
    const { statusCode, headers, rawPayload } = await (await board).inject(request.url);
    for (const name of PASSED_ON) if (headers[name] !== undefined) reply.header(name, headers[name]);
    return reply
      .code(statusCode)
      .send(headers['content-type']?.startsWith('text/html') ? withoutForeignLinks(rawPayload) : rawPayload);
  };
}

const PASSED_ON = ['content-type', 'cache-control', 'etag', 'last-modified', 'location'];

/** The board's page loads a font from another host, which would learn who opens it. */
const withoutForeignLinks = (page: Buffer): string =>
  page.toString().replaceAll(/<link\b[^>]*\bhref="(?:https?:)?\/\/[^>]*>/gi, '');

/** The queue is a schedule of the ledger's work: changes here would be reverted or lose work. */
const refuse: Handler = async () => {
  throw problem(
    'method_not_allowed',
    'queues are read-only here, except that failed turns can be retried: the ledger decides what is scheduled; use ' +
      'POST /v1/replays to replay parked batches',
    { headers: { allow: 'GET, HEAD' } },
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

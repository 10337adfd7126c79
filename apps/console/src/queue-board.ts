import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { PARAM_MAX, type ProblemError, translate } from '@slowwave/http';
import fastify, { type FastifyInstance } from 'fastify';
import type { ConsoleDeps } from './deps.ts';

const BOARD = {
  // A queue in process has no workers or server to show.
  showWorkers: false,
  hideRedisDetails: true,
  /** Other pages for people. */
  miscLinks: [
    { text: 'What is waiting, and why', url: '/' },
    { text: 'API', url: '/docs/' },
    { text: 'Sign in or out', url: '/login' },
  ],
};

interface Place {
  readonly basePath: string;
  /** What the board's page shows of a failure. */
  readonly problem: (error: ProblemError) => Record<string, unknown>;
}

/** bull-board as an app of its own, which is asked what to show and nothing else. */
export async function openBoard(deps: ConsoleDeps, { basePath, problem }: Place): Promise<FastifyInstance> {
  const adapter = new FastifyAdapter();
  createBullBoard({
    queues: deps.queues.map((queue) => new BullMQAdapter(queue, { externalJobUrl: batchesOf })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Slowwave queues', hideDocsLink: true, ...BOARD } },
  });
  // The board's own handler would expose internals.
  adapter.setBasePath(basePath).setErrorHandler((error) => {
    const failure = translate(error);
    if (failure.statusCode >= 500) deps.log.error({ err: error }, 'queue page failed');
    return { status: failure.statusCode as 400 | 500, body: problem(failure) };
  });
  const app = fastify({ routerOptions: { maxParamLength: PARAM_MAX } });
  await app.register(adapter.registerPlugin(), { prefix: basePath });
  return app;
}

/** Where the console shows what a job is about. */
const batchesOf = ({ data }: { readonly data: unknown }) => {
  const lane = typeof data === 'object' && data !== null && 'lane' in data ? String(data.lane) : null;
  return lane === null
    ? { displayText: 'Work', href: '/work' }
    : { displayText: 'Batches', href: `/work?${new URLSearchParams({ lane })}` };
};

import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { allowPages, type Routes, translate } from '@slowwave/http';
import type { ConsoleDeps } from '../deps.ts';
import { boardProblem } from './board-problem.ts';
import { guard } from './guard.ts';
import { withoutForeignLinks } from './page.ts';

const BASE_PATH = '/queues';

const BOARD = {
  // What a queue knows of its workers and its server depends on where it runs: in process it would say that there are none.
  showWorkers: false,
  hideRedisDetails: true,
  /** What else there is for people. */
  miscLinks: [
    { text: 'API', url: '/docs/' },
    { text: 'Sign in or out', url: '/login' },
  ],
};

/** bull-board under /queues: everything can be looked at, and the one thing to do is to try failed turns again. */
export const queuePages =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    allowPages(app);
    app.addHook('preHandler', guard(deps, BASE_PATH));
    app.addHook('onSend', async (_request, reply, payload) =>
      String(reply.getHeader('content-type')).startsWith('text/html') ? withoutForeignLinks(payload) : payload,
    );
    await app.register(board(deps).registerPlugin(), { prefix: BASE_PATH });
  };

function board(deps: ConsoleDeps): FastifyAdapter {
  const adapter = new FastifyAdapter();
  createBullBoard({
    queues: deps.queues.map((queue) => new BullMQAdapter(queue)),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Slowwave queues', hideDocsLink: true, ...BOARD } },
  });
  // The board's own handler would tell the caller what went wrong inside.
  return adapter.setBasePath(BASE_PATH).setErrorHandler((error) => {
    const told = translate(error);
    if (told.statusCode >= 500) deps.log.error({ err: error }, 'queue page failed');
    return { status: told.statusCode as 400 | 500, body: boardProblem(told) };
  });
}

import { each } from '../api.ts';
import { startStage } from '../cells/stage.ts';
import { userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { costOf, perRequest } from './load/drive.ts';
import { atMost, median } from './report.ts';

/** A router does little for a search, compared with the cell that answers it. */
const TARGET = 1 / 3;
const ROUNDS = 5;

/** What it costs to pass a request on. */
export const router: Bench = {
  name: 'router',
  what: 'Processor time of a router per forwarded request, compared with the cell that answers it: the same searches and posts, directly and through the router in turns.',
  flags: {
    requests: { usual: '200', help: 'Requests of each kind in a round.' },
    users: { usual: '50', help: 'Users they belong to.' },
  },
  draws: false,
  run: async (given, progress) => {
    const stage = await startStage({ cells: 1, routers: 1, moves: 1 });
    try {
      const [cell, passing] = [stage.cells[0], stage.routers[0]];
      if (cell === undefined || passing === undefined) throw new Error('expected a cell and a router');
      return await measure({ cell, passing, apiKey: stage.apiKey }, optionsOf(given), progress);
    } finally {
      await stage.close();
    }
  },
};

const optionsOf = (given: Given) => ({
  requests: given.number('requests', { min: 50, max: 100_000 }),
  users: given.number('users', { max: 10_000 }),
});

interface Side {
  readonly url: string;
  pid(): number;
}

interface Measured {
  readonly cell: Side;
  readonly passing: Side;
  readonly apiKey: string;
}

const KINDS = {
  search: { path: '/v1/search', body: (user: string) => ({ user_id: user, query: 'Where does somebody live?' }) },
  post: {
    path: '/v1/batches',
    body: (user: string) => ({ user_id: user, messages: [{ role: 'user', content: `${user} lives in Utrecht.` }] }),
  },
} as const;
type Kind = keyof typeof KINDS;

async function measure(
  { cell, passing, apiKey }: Measured,
  { requests, users }: ReturnType<typeof optionsOf>,
  progress: Progress,
) {
  const costs: Record<Kind, { readonly cell: number[]; readonly router: number[] }> = {
    search: { cell: [], router: [] },
    post: { cell: [], router: [] },
  };
  const askAll = async ({ url }: Side, kind: Kind): Promise<void> => {
    const { path, body } = KINDS[kind];
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
    await each(
      Array.from({ length: requests }, (_, i) => userOf(i % users)),
      async (user) => {
        const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body(user)) });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`expected ${path} to succeed, got ${answer.status}`);
      },
    );
  };
  // The first round warms both up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const kind of ['post', 'search'] as const) {
      progress(`${kind}, round ${round} of ${ROUNDS}`);
      const direct = await costOf([cell.pid()], () => askAll(cell, kind));
      const passed = await costOf([passing.pid()], () => askAll(passing, kind));
      if (round === 0) continue;
      costs[kind].cell.push(perRequest(direct, requests));
      costs[kind].router.push(perRequest(passed, requests));
    }
  }
  return {
    title: `router: ${requests} searches and as many posts in each of ${ROUNDS} rounds, ${users} users`,
    figures: (['search', 'post'] as const).flatMap((kind) => [
      { what: `passing a ${kind} on`, value: median(costs[kind].router), unit: 'µs' },
      { what: `  the cell alone, for the same ${kind}`, value: median(costs[kind].cell), unit: 'µs' },
    ]),
    verdicts: [],
    comparisons: [
      atMost(TARGET, {
        what: 'processor time of a search',
        unit: 'µs',
        ours: { name: 'the router', value: median(costs.search.router) },
        yardstick: { name: 'the cell', value: median(costs.search.cell) },
      }),
    ],
    remarks: ['The cell also consolidates what was posted meanwhile, with the builtin model: that is in its figures.'],
  };
}

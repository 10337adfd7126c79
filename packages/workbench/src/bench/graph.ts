import { DEFAULT_TENANT, type LaneId, type Ledger } from '@slowwave/engine';
import { type Random, seededRandom } from '../chaos/random.ts';
import { product } from '../product.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { type Filled, withFilled } from './filled/folder.ts';
import { fillGraph, type GraphSize, graphOf, type MadeGraph } from './filled/graph.ts';
import { ownerAt, userAt } from './filled/points.ts';
import { vocabulary } from './filled/words.ts';
import { type Asker, askerAt } from './load/drive.ts';
import { atMost, median, quantile } from './report.ts';

/** What somebody who waits does not notice beside a search. */
const NEIGHBOURHOOD_TARGET_MS = 20;
const SEARCH_TARGET = 1.5;
const P95 = 0.95;
const DIMENSIONS = 1_024; // of the builtin embedder
/** Fewer than search keeps embedded, so that no time of an embedder is measured. */
const DIFFERENT = 200;
/** As a search reads them: around one entity, then around those that it leads to. */
const AROUND = { first: 300, entities: 32 } as const;

/** What relations cost who reads them. */
export const graph: Bench = {
  name: 'graph',
  what: 'How long it takes to read the neighbourhood of an entity, and how long a search takes with and without relations.',
  flags: {
    relations: { usual: '100000', help: 'Relations of all users together, in one tenant.' },
    memories: { usual: '100000', help: 'Memories of all users together: they come from the same messages.' },
    users: { usual: '100', help: 'Users, with an equal share each.' },
    questions: { usual: '1000', help: 'Questions of each kind.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const words = vocabulary(DIMENSIONS);
    const graphs = Array.from({ length: options.users }, (_, user) => graphOf(user, options.graph));
    const more = (parts: Parameters<typeof fillGraph>[0]) => fillGraph(parts, graphs, progress);
    const size = { users: options.users, perUser: options.memoriesEach };
    return withFilled({ size, words, qdrantUrl: null, more }, progress, (filled) =>
      withLedger(filled, (ledger) => measure({ options, filled, ledger, graphs }, progress)),
    );
  },
};

function optionsOf(given: Given) {
  const users = given.number('users', { max: 10_000 });
  const each = (flag: string): number => Math.max(1, Math.round(given.number(flag) / users));
  const size: GraphSize = { perUser: each('relations') };
  return { users, graph: size, memoriesEach: each('memories'), questions: given.number('questions') };
}

async function withLedger<T>({ ledgerPath }: Filled, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await product.openLedger(ledgerPath);
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly filled: Filled;
  readonly ledger: Ledger;
  readonly graphs: readonly MadeGraph[];
}

async function measure(stage: Stage, progress: Progress) {
  const { options } = stage;
  progress('reading neighbourhoods');
  const near = await neighbourhoods(stage);
  const times = await searches(stage, progress);
  const relations = options.users * options.graph.perUser;
  const memories = options.users * options.memoriesEach;
  const p95 = quantile(near.times, P95);
  return {
    title: `graph: ${relations.toLocaleString('en')} relations of ${options.users} users in one tenant, ${memories.toLocaleString('en')} memories, in SQLite`,
    figures: [
      { what: 'neighbourhood of an entity, two steps: median', value: median(near.times), unit: 'ms' },
      { what: '  95 of 100', value: p95, unit: 'ms' },
      { what: '  relations in it, on average', value: near.relations, unit: '' },
      { what: 'POST /v1/search: median', value: median(times.plain), unit: 'ms' },
      { what: '  95 of 100', value: quantile(times.plain, P95), unit: 'ms' },
      { what: 'POST /v1/search with relations: median', value: median(times.related), unit: 'ms' },
      { what: '  95 of 100', value: quantile(times.related, P95), unit: 'ms' },
      { what: '  relations in an answer, on average', value: times.shown, unit: '' },
    ],
    verdicts: [
      {
        what: 'the neighbourhood of an entity, 95 of 100',
        reached: `${p95.toFixed(1)} ms`,
        target: `at most ${NEIGHBOURHOOD_TARGET_MS} ms`,
        passed: p95 <= NEIGHBOURHOOD_TARGET_MS,
        misses: [],
      },
    ],
    comparisons: [
      atMost(SEARCH_TARGET, {
        what: 'search, 95 of 100',
        unit: 'ms',
        ours: { name: 'with relations', value: quantile(times.related, P95) },
        yardstick: { name: 'without', value: quantile(times.plain, P95) },
      }),
    ],
    remarks: [
      'Neighbourhoods are read in the ledger, in the same process; searches go over HTTP to a process of their own.',
      'Both searches are asked the same in turns, about an entity by its name. Questions are embedded before it is measured.',
    ],
  };
}

async function neighbourhoods({ options, ledger, graphs }: Stage) {
  const random = seededRandom('whose neighbourhood is read');
  const lanes = await lanesOf(ledger, options.users);
  const times: number[] = [];
  let relations = 0;
  for (let i = 0; i < options.questions; i += 1) {
    const user = random.between(0, options.users - 1);
    const lane = lanes[user];
    const entity = random.pick(graphs[user]?.entities ?? []);
    if (lane === undefined) throw new Error(`user ${user} has no lane`);
    const began = performance.now();
    relations += await readAround(ledger, lane, entity.id);
    times.push(performance.now() - began);
  }
  return { times, relations: relations / options.questions };
}

async function readAround({ graph: store }: Ledger, lane: LaneId, entity: string): Promise<number> {
  const near = await store.around(lane, { entities: [entity], at: null, limit: AROUND.first });
  const ends = new Set(near.flatMap(({ source, destination }) => [source, destination]));
  ends.delete(entity);
  const entities = [...ends].slice(0, AROUND.entities);
  const further = await store.around(lane, { entities, at: null, limit: AROUND.first });
  return new Set([...near, ...further].map(({ id }) => id)).size;
}

const lanesOf = (ledger: Ledger, users: number): Promise<readonly LaneId[]> =>
  Promise.all(
    Array.from({ length: users }, (_, user) => ledger.memories.laneOf(DEFAULT_TENANT, ownerAt(user), Date.now())),
  );

async function searches({ options, filled, graphs }: Stage, progress: Progress) {
  const random = seededRandom('what is asked with relations');
  const bodies = Array.from({ length: DIFFERENT }, () => bodyOf(random, graphs));
  const { ask, close }: Asker = askerAt(filled.searchUrl);
  const related = (body: object): object => ({ ...body, include: ['relations'] });
  const times: { readonly plain: number[]; readonly related: number[] } = { plain: [], related: [] };
  progress('warming up');
  let shown = 0;
  for (const body of bodies) {
    await ask(body);
    shown += await relationsIn(filled, related(body));
  }
  for (let asked = 0; asked < options.questions; asked += 1) {
    const body = random.pick(bodies);
    // One after the other: a machine that slows down slows both down.
    times.plain.push(await ask(body));
    times.related.push(await ask(related(body)));
    if (asked % 50 === 0) progress(`asked ${asked} of ${options.questions} questions`);
  }
  close();
  return { ...times, shown: shown / bodies.length };
}

/** How many relations an answer has. Throws where some are missing: what was left out took no time. */
async function relationsIn({ searchUrl }: Filled, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${searchUrl}/v1/search`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { relations = [], degraded } = (await response.json()) as { relations?: unknown[]; degraded?: string[] };
  if (degraded !== undefined) throw new Error(`expected a whole answer, got one without: ${degraded.join('; ')}`);
  return relations.length;
}

function bodyOf(random: Random, graphs: readonly MadeGraph[]) {
  const user = random.between(0, graphs.length - 1);
  const made = graphs[user];
  const entity = random.pick(made?.entities ?? []);
  const { relationship } = random.pick(made?.relations ?? []);
  return { user_id: userAt(user), query: `what does ${entity.name} ${relationship.replaceAll('_', ' ')}?` };
}

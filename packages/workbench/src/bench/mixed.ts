import { setTimeout as sleep } from 'node:timers/promises';
import type { LaneId, PointPage, SearchIndex } from '@slowwave/engine';
import { apiAt, ServerError } from '../api.ts';
import { seededRandom } from '../chaos/random.ts';
import { countsOf } from '../fleet/quiet.ts';
import { fleetModel } from '../fleet/said.ts';
import { product } from '../product.ts';
import { postBacklog } from './backlog.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { fillIndex } from './filled/folder.ts';
import { memoriesIn, type Size, userAt } from './filled/points.ts';
import { drawn, makeQuestions, type Question } from './filled/questions.ts';
import { vocabulary } from './filled/words.ts';
import { cpuTimes, cpuUse } from './host.ts';
import { askerAt, steadily } from './load/drive.ts';
import { type Posted, postFromOutside } from './load/posting.ts';
import { atMost, median, quantile } from './report.ts';
import { type Stand, withStand } from './stand.ts';

const TARGET = 2;
const P95 = 0.95;
const SECOND_MS = 1_000;
const DIMENSIONS = 1_024; // of the builtin embedder
const IDLE_MS = 3_600_000; // only what is flushed is due
const CONNECTIONS = 64;
const MAX_S = 5; // how long the maximum of ingest is tried
const RAMP_S = 3; // all lanes are taken, and the first start's costs are over
const CALLS = 2; // of the model in a consolidation
const STALLED_MS = 60_000; // without a call of the model: something is broken

/** Whether searching suffers from everything else. */
export const mixed: Bench = {
  name: 'mixed',
  what: 'How long a search takes while ingest runs at half of its maximum and many consolidations are active, compared with an idle server.',
  flags: {
    memories: { usual: '10000', help: 'Memories that are searched.' },
    users: { usual: '20', help: 'Users they belong to.' },
    rate: { usual: '50', help: 'Searches per second.' },
    seconds: { usual: '20', help: 'How long it is searched, idle and busy.' },
    lanes: { usual: '50', help: 'Concurrent consolidations.' },
    latency: { usual: '300', help: 'How long the model thinks about each answer, in ms.' },
    processes: { usual: 'apart', help: 'apart: ingest, search and worker; one: all in one process.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger of processes apart is: sqlite or postgres.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index of processes apart; without it, it is in a file.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { processes, ledger, qdrantUrl, lanes, latency } = options;
    const settings = {
      SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS),
      SLOWWAVE_BATCH_MAX_AGE_MS: String(IDLE_MS),
      SLOWWAVE_BATCH_TOKENS: '100000',
      SLOWWAVE_MAX_PENDING: '1000000',
      SLOWWAVE_CONCURRENCY: String(lanes),
    };
    const model = { script: fleetModel(), latencyMs: latency };
    return withStand({ processes, model, fleet: { ledger, qdrantUrl, settings } }, (stand) =>
      measure({ options, stand }, progress),
    );
  },
};

function optionsOf(given: Given) {
  const users = given.number('users', { max: 100_000 });
  return {
    size: { users, perUser: Math.max(1, Math.round(given.number('memories') / users)) } satisfies Size,
    rate: given.number('rate', { max: 10_000 }),
    seconds: given.number('seconds', { max: 600 }),
    lanes: given.number('lanes', { max: 500 }),
    latency: given.number('latency', { max: 60_000 }),
    processes: given.choice('processes', ['apart', 'one']),
    ledger: given.choice('ledger', ['sqlite', 'postgres']),
    qdrantUrl: given.url('qdrant'),
  };
}

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly stand: Stand;
}

async function measure(stage: Stage, progress: Progress) {
  const { options, stand } = stage;
  const questions = await fill(stage, progress);
  const idle = await searchFor(stage, questions, () => progress('searching, with nothing else going on'));
  progress('how much ingest takes at the most');
  const { perSecond: most } = await postFromOutside(stand.ingest, {
    connections: CONNECTIONS,
    ms: Math.min(MAX_S, options.seconds) * SECOND_MS,
    rate: 0,
  });
  const busy = await searchBusily(stage, { questions, rate: Math.floor(most / 2) }, progress);
  const { size, rate, lanes } = options;
  return {
    title: `mixed: ${rate} searches a second in ${memoriesIn(size).toLocaleString('en')} memories, ${lanes} lanes, on ${stand.place}`,
    figures: [
      { what: 'search, idle: median', value: median(idle), unit: 'ms' },
      { what: '  95 of 100', value: quantile(idle, P95), unit: 'ms' },
      { what: 'search, busy: median', value: median(busy.times), unit: 'ms' },
      { what: '  95 of 100', value: quantile(busy.times, P95), unit: 'ms' },
      { what: 'ingest: its maximum', value: most, unit: '/s' },
      { what: '  meanwhile', value: busy.posted.perSecond, unit: '/s' },
      { what: '  acknowledged within, 95 of 100', value: busy.posted.p95 ?? 0, unit: 'ms' },
      { what: 'calls of the model under way, on average', value: busy.calls, unit: `of ${lanes}` },
    ],
    verdicts: [],
    comparisons: [
      atMost(TARGET, {
        what: 'POST /v1/search, 95 of 100',
        unit: 'ms',
        ours: { name: 'busy', value: quantile(busy.times, P95) },
        yardstick: { name: 'idle', value: quantile(idle, P95) },
      }),
    ],
    remarks: [
      `Processors meanwhile: ${Math.round(busy.cpu * 100)}% busy, with the processes that post and search.`,
      'Answer times count from when a search was due, so that one that waits for others has waited too.',
    ],
  };
}

async function fill({ options, stand }: Stage, progress: Progress): Promise<readonly Question[]> {
  const words = vocabulary(DIMENSIONS);
  const index = await product.openIndex(stand.index);
  try {
    const lanes = await lanesOf(stand, index, options.size.users);
    await fillIndex(index, { size: options.size, words, lanes }, progress);
  } finally {
    await index.close();
  }
  const questions = await makeQuestions(words);
  // Every question is embedded once, and every user was asked about.
  const { ask, close } = askerAt(stand.search);
  for (const [i, { text }] of questions.entries()) await ask({ user_id: userAt(i % options.size.users), query: text });
  close();
  return questions;
}

/** The lane of each user: there is one from the first memory on that is written of it, and the index says which. */
async function lanesOf(stand: Stand, index: SearchIndex, users: number): Promise<readonly LaneId[]> {
  const console = apiAt(stand.console, null);
  for (let user = 0; user < users; user += 1) {
    await console.post('/v1/memories', { memory: 'has a lane', user_id: userAt(user) });
  }
  const lanes = new Map<string, LaneId>();
  for (let after: string | null = null, more = true; more; more = after !== null) {
    const page: PointPage = await index.page(after, PAGE);
    for (const { owner, lane } of page.points) lanes.set(owner.id, lane);
    after = page.next;
  }
  return Array.from({ length: users }, (_, user) => lanes.get(userAt(user)) as LaneId);
}

/** Points of the index that are read at once. */
const PAGE = 500;

/** Searches at a steady rate; answers with the times in ms. */
async function searchFor(
  { options, stand }: Stage,
  questions: readonly Question[],
  begin: () => void,
): Promise<readonly number[]> {
  begin();
  const random = seededRandom('who is asked about');
  const asker = askerAt(stand.search);
  const bodies = (): string => {
    const { question, user } = drawn(random, questions, options.size.users);
    return JSON.stringify({ user_id: userAt(user), query: question.text });
  };
  const times = await steadily(asker.send, bodies, { rate: options.rate, ms: options.seconds * SECOND_MS });
  asker.close();
  return times;
}

interface Busy {
  readonly times: readonly number[];
  readonly posted: Posted;
  /** Calls of the model under way at a time. */
  readonly calls: number;
  /** Share of the processors' time that was used. */
  readonly cpu: number;
}

async function searchBusily(
  stage: Stage,
  { questions, rate }: { readonly questions: readonly Question[]; readonly rate: number },
  progress: Progress,
): Promise<Busy> {
  const { options, stand } = stage;
  const { lanes, latency, seconds } = options;
  const turns = Math.ceil((lanes / latency) * SECOND_MS * (seconds + RAMP_S * 2)) / CALLS + lanes;
  await postBacklog(apiAt(stand.ingest, null), { turns: Math.ceil(turns), calls: CALLS }, progress);
  await stand.startWorker();
  await untilCalled(stand, lanes);
  await sleep(Math.min(RAMP_S, seconds) * SECOND_MS);
  const posting = postFromOutside(stand.ingest, { connections: CONNECTIONS, ms: seconds * SECOND_MS, rate });
  const before = await cpuTimes([]);
  const began = Date.now();
  const times = await searchFor(stage, questions, () => progress('searching, with everything else going on'));
  const ended = Date.now();
  const { busy } = cpuUse(before, await cpuTimes([]));
  const { consolidating } = await countsOf(apiAt(stand.search, null));
  if (consolidating === 0)
    throw new ServerError('the backlog was worked off before the time was up: ask for less time');
  return { times, posted: await posting, calls: underWay(stand, began, ended), cpu: busy };
}

async function untilCalled({ model }: Stand, times: number): Promise<void> {
  for (const giveUp = Date.now() + STALLED_MS; model.calls.length < times; await sleep(SECOND_MS / 10)) {
    if (Date.now() > giveUp)
      throw new ServerError(`the model was asked ${model.calls.length} times, expected ${times}`);
  }
}

/** How many calls were under way on average between two moments. */
function underWay({ model }: Stand, began: number, ended: number): number {
  const spent = model.calls.map(({ at, endedAt }) => Math.min(endedAt ?? ended, ended) - Math.max(at, began));
  return spent.reduce((sum, ms) => sum + Math.max(0, ms), 0) / (ended - began);
}

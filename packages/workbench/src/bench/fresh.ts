import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiAt, each } from '../api.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { fleetModel, textOf, userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { atMost, median, quantile } from './report.ts';
import { type Stand, withStand } from './stand.ts';

const OVER_MS = 100; // that all steps may take together
const P95 = 0.95;
const SECOND_MS = 1_000;
const WITHIN_MS = 300_000;
/** Users take turns so that each is idle again, for as long again, when its turn comes. */
const IDLES_BETWEEN = 3;

/** How soon what was said is found. */
export const fresh: Bench = {
  name: 'fresh',
  what: 'Time from acknowledgement to searchable, in idle lanes, with a model that answers at once.',
  flags: {
    posts: { usual: '200', help: 'Batches, posted one after the other.' },
    rate: { usual: '5', help: 'Batches per second.' },
    idle: { usual: '1000', help: 'Idle time in ms after which a batch is due.' },
    processes: { usual: 'apart', help: 'apart: ingest, search and worker; one: all in one process.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger of processes apart is: sqlite or postgres.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index of processes apart; without it, it is in a file.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { processes, ledger, qdrantUrl, idle } = options;
    const settings = { SLOWWAVE_BATCH_IDLE_MS: String(idle) };
    const model = { script: fleetModel() };
    return withStand({ processes, model, fleet: { ledger, qdrantUrl, settings } }, (stand) =>
      measure({ options, stand }, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  posts: given.number('posts'),
  rate: given.number('rate', { max: 1_000 }),
  idle: given.number('idle', { max: 600_000 }),
  processes: given.choice('processes', ['apart', 'one']),
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
  qdrantUrl: given.url('qdrant'),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly stand: Stand;
}

async function measure({ options, stand }: Stage, progress: Progress) {
  const { idle, rate } = options;
  const ingest = apiAt(stand.ingest, null);
  await stand.startWorker();
  const users = Math.ceil((rate * idle * IDLES_BETWEEN) / SECOND_MS);
  progress('warming up');
  const first = Math.min(options.posts, users);
  await postAll(ingest, { posts: first, rate, users, from: 0 });
  await untilQuiet(apiAt(stand.search, null), { withinMs: WITHIN_MS });
  progress(`posting ${options.posts} batches`);
  const ids = await postAll(ingest, { posts: options.posts, rate, users, from: first });
  await untilQuiet(apiAt(stand.search, null), { withinMs: WITHIN_MS });
  const waits = await each(ids, async (id) => {
    const { timings } = await ingest.get<{ timings: Timings }>(`/v1/batches/${id}`);
    const at = (what: keyof Timings): number => Date.parse(timings[what] ?? '');
    const accepted = at('accepted_at');
    return { claimed: at('claimed_at') - accepted, searchable: at('searchable_at') - accepted };
  });
  const all = waits.map(({ searchable }) => searchable);
  const claimed = waits.map((wait) => wait.claimed);
  return {
    title: `fresh: ${options.posts} batches, ${rate} a second, idle window ${idle} ms, on ${stand.place}`,
    figures: [
      { what: 'searchable: median', value: median(all), unit: 'ms' },
      { what: 'searchable: 95 of 100', value: quantile(all, P95), unit: 'ms' },
      { what: 'searchable: slowest', value: Math.max(...all), unit: 'ms' },
      { what: '  until claimed: median', value: median(claimed), unit: 'ms' },
      { what: '  until claimed: 95 of 100', value: quantile(claimed, P95), unit: 'ms' },
    ],
    verdicts: [],
    comparisons: [
      atMost(1, {
        what: 'searchable, 95 of 100',
        unit: 'ms',
        ours: { name: 'from the acknowledgement', value: quantile(all, P95) },
        yardstick: { name: `the idle window and ${OVER_MS} ms`, value: idle + OVER_MS },
      }),
    ],
    remarks: [
      'By the times that the API shows of a batch. Most batches change a memory, so that the model is asked twice.',
    ],
  };
}

type Timings = Readonly<Record<'accepted_at' | 'claimed_at' | 'searchable_at', string | null>>;

interface Posting {
  readonly posts: number;
  readonly rate: number;
  readonly users: number;
  /** Batches that were posted before: every text is said once. */
  readonly from: number;
}

/** At a steady rate, of one user after the other; answers with the batches. */
async function postAll(api: Api, { posts, rate, users, from }: Posting): Promise<readonly string[]> {
  const ids: string[] = [];
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; i < posts; i += 1) {
    const early = began + (i * SECOND_MS) / rate - performance.now();
    if (early > 0) await sleep(early);
    const user = i % users;
    const messages = [{ role: 'user', content: textOf(user, from + i) }];
    const post = api.post<{ batch_id: string }>('/v1/batches', { user_id: userOf(user), messages });
    running.push(post.then(({ batch_id }) => void ids.push(batch_id)));
  }
  await Promise.all(running);
  return ids;
}

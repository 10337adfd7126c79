import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiAt, each } from '../api.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { countsOf, untilQuiet } from '../fleet/quiet.ts';
import { fleetModel } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { atMost, median, quantile } from './report.ts';
import { withFleet } from './with-fleet.ts';

const TARGET = 2;
const SECOND_MS = 1_000;
const WITHIN_MS = 900_000;
const NOISE_CONNECTIONS = 8;

/** Whether one who posts very much delays the others. */
export const noisy: Bench = {
  name: 'noisy',
  what: 'Whether quiet users wait longer for their memories while a noisy one has thousands of batches waiting.',
  flags: {
    noise: { usual: '5000', help: 'Batches of the noisy user.' },
    spread: { usual: '1', help: 'Lanes of the noisy one: 1 is one user, more are an import of many users.' },
    priority: { usual: 'live', help: 'Priority of the noise: live, or backfill as for an import.' },
    quiet: { usual: '100', help: 'Quiet users.' },
    seconds: { usual: '30', help: 'How long the quiet users post, alone and next to the noise.' },
    pause: { usual: '3', help: 'How often each quiet user posts, in seconds.' },
    latency: { usual: '100', help: 'How long the model thinks about each answer, in ms.' },
    workers: { usual: '1', help: 'Processes that consolidate.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index; without it, it is in a file.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { ledger, workers, qdrantUrl, latency } = options;
    const model = { script: fleetModel(), latencyMs: latency };
    return withFleet({ model, fleet: { ledger, workers, qdrantUrl, settings: {} } }, ({ running }) =>
      measure({ options, running }, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  noise: given.number('noise'),
  spread: given.number('spread'),
  priority: given.choice('priority', ['live', 'backfill']),
  quiet: given.number('quiet', { max: 10_000 }),
  seconds: given.number('seconds', { max: 3_600 }),
  pause: given.number('pause', { max: 60 }),
  latency: given.number('latency', { max: 60_000 }),
  workers: given.number('workers', { max: 50 }),
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
  qdrantUrl: given.url('qdrant'),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
}

async function measure({ options, running }: Stage, progress: Progress) {
  const { noise, spread, priority, quiet } = options;
  const ingest = apiAt(running.ingest, null);
  const search = apiAt(running.search, null);
  await whisper(ingest, { ...options, seconds: options.pause, name: 'warm' });
  await untilQuiet(search, { withinMs: WITHIN_MS });
  progress('quiet users alone');
  const alone = await whisper(ingest, { ...options, name: 'alone' });
  await untilQuiet(search, { withinMs: WITHIN_MS });
  progress('quiet users beside the noise');
  const noisePosted = makeNoise(ingest, { noise, spread, priority }).then(() => Date.now());
  const beside = await whisper(ingest, { ...options, name: 'beside' });
  const noiseEnded = await noisePosted;
  const { pending, consolidating } = await countsOf(search);
  const before = await waitsOf(ingest, alone, progress);
  await untilQuiet(search, {
    withinMs: WITHIN_MS,
    onCounts: (counts) => progress(`${counts.pending + counts.consolidating} batches still under way`),
  });
  const during = await waitsOf(ingest, beside, progress);
  return {
    title: `noisy: ${quiet} quiet users beside ${noise} ${priority} batches in ${spread} lanes, ${options.workers} worker processes, on ${running.place}`,
    figures: [
      ...timesOf('alone', before),
      ...timesOf('beside the noise', during),
      ...p95While('  while it is posted: 95 of 100', during, ({ acceptedAt }) => acceptedAt < noiseEnded),
      ...p95While('  while it only waits: 95 of 100', during, ({ acceptedAt }) => acceptedAt >= noiseEnded),
      { what: 'batches under way when the quiet ones had posted their last', value: pending + consolidating, unit: '' },
    ],
    verdicts: [],
    comparisons: [
      atMost(TARGET, {
        what: 'searchable, 95 of 100',
        unit: 'ms',
        ours: { name: 'beside the noise', value: p95Of(during, 'all') },
        yardstick: { name: 'alone', value: p95Of(before, 'all') },
      }),
    ],
    remarks: ['From the acknowledgement to the memory in the index. Quiet users flush: nothing waits to be due.'],
  };
}

const P95 = 0.95;

const p95Of = (waits: readonly Wait[], part: Exclude<keyof Wait, 'acceptedAt'>): number =>
  quantile(
    waits.map((wait) => wait[part]),
    P95,
  );

function p95While(what: string, waits: readonly Wait[], when: (wait: Wait) => boolean) {
  const then = waits.filter(when);
  return then.length === 0 ? [] : [{ what, value: p95Of(then, 'all'), unit: 'ms' }];
}

const timesOf = (what: string, waits: readonly Wait[]) => [
  { what: `searchable, ${what}: median`, value: median(waits.map(({ all }) => all)), unit: 'ms' },
  { what: `searchable, ${what}: 95 of 100`, value: p95Of(waits, 'all'), unit: 'ms' },
  { what: '  until claimed: 95 of 100', value: p95Of(waits, 'claimed'), unit: 'ms' },
  { what: '  from there until applied', value: p95Of(waits, 'applied'), unit: 'ms' },
  { what: '  from there until searchable', value: p95Of(waits, 'searchable'), unit: 'ms' },
];

interface Whisper {
  readonly name: string;
  readonly quiet: number;
  readonly seconds: number;
  readonly pause: number;
}

/** Every quiet user posts now and then, evenly over the time; answers with the batches. */
async function whisper(api: Api, { name, quiet, seconds, pause }: Whisper): Promise<readonly string[]> {
  const ids: string[] = [];
  const posts = Math.floor((quiet * seconds) / pause);
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (let i = 0; i < posts; i += 1) {
    const early = began + (i * seconds * SECOND_MS) / posts - performance.now();
    if (early > 0) await sleep(early);
    const user_id = `${name}-${i % quiet}`;
    const messages = [{ role: 'user', content: `${user_id} did thing number ${i}` }];
    const post = api.post<{ batch_id: string }>('/v1/batches', { user_id, messages, flush: true });
    running.push(post.then(({ batch_id }) => void ids.push(batch_id)));
  }
  await Promise.all(running);
  return ids;
}

interface Noise {
  readonly noise: number;
  readonly spread: number;
  readonly priority: string;
}

async function makeNoise(api: Api, { noise, spread, priority }: Noise): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < noise; i = next++) {
      const user_id = `noisy-${i % spread}`;
      const messages = [{ role: 'user', content: `${user_id} says thing number ${i}, and nobody asked` }];
      await api.post('/v1/batches', { user_id, messages, priority, flush: true });
    }
  };
  await Promise.all(Array.from({ length: NOISE_CONNECTIONS }, worker));
}

interface Timed {
  readonly timings: Readonly<Record<'accepted_at' | 'claimed_at' | 'applied_at' | 'searchable_at', string | null>>;
}

/** How long one batch waited, in ms: until it was claimed, until it was applied, until it was searchable; and in all. */
interface Wait {
  readonly acceptedAt: number;
  readonly claimed: number;
  readonly applied: number;
  readonly searchable: number;
  readonly all: number;
}

async function waitsOf(api: Api, ids: readonly string[], progress: Progress): Promise<readonly Wait[]> {
  progress('asking how long the quiet ones waited');
  return each(ids, async (id) => {
    const { timings } = await api.get<Timed>(`/v1/batches/${id}`);
    const at = (what: keyof Timed['timings']): number => Date.parse(timings[what] ?? '');
    return {
      acceptedAt: at('accepted_at'),
      claimed: at('claimed_at') - at('accepted_at'),
      applied: at('applied_at') - at('claimed_at'),
      searchable: at('searchable_at') - at('applied_at'),
      all: at('searchable_at') - at('accepted_at'),
    };
  });
}

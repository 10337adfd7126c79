import { join } from 'node:path';
import { freePort, type Service, spawnService, tempDir } from '@slowwave/testkit';
import type { Fleet } from '../fleet/fleet.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { type Bodies, costOf, flatOut, perRequest, steadily } from './load/drive.ts';
import { bodiesOf, EXCHANGE, type Poster, posterTo } from './load/posting.ts';
import { mem0AddTimes } from './mem0/add-times.ts';
import { atLeast, atMost, type Comparison, median, quantile } from './report.ts';
import { withFleet } from './with-fleet.ts';

const SECOND_MS = 1_000;
const PERCENT = 100;
const ROUNDS = 3; // the two take turns, so that a machine that slows down slows both down
/** Turns of a second or two at half of the maximum: what the server still does with the rows of the maximum takes longer, and meets both. */
const STEADY_TURNS = 8;
const IDLE_MS = 3_600_000; // nothing is due meanwhile
/** How long mem0's model thinks. */
const THINK_MS = 300;
const ADDS = 20;
const MEM0_TARGET = 0.01;
/** What checks, indexes of what is due and the order of turns may cost. */
const BARE_TARGET = 0.8;
/** The slowest of a hundred, at the same rate. */
const SLOWEST_TARGET = 2;

/** What acknowledging costs. */
export const ingest: Bench = {
  name: 'ingest',
  what: "How fast POST /v1/batches acknowledges, compared with a bare writer of the same rows and with mem0's add().",
  flags: {
    connections: { usual: '64', help: 'Connections used to measure the maximum.' },
    seconds: { usual: '6', help: 'How long each of its parts takes.' },
    users: { usual: '1000', help: 'Users who take turns.' },
    mem0: { usual: 'yes', help: 'Whether mem0 is measured too: yes or no.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const adding = { times: ADDS, thinkMs: THINK_MS, messages: EXCHANGE };
    const adds = options.mem0 ? await mem0AddTimes(adding, progress) : [];
    const settings = {
      SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS),
      SLOWWAVE_BATCH_TOKENS: '100000',
      SLOWWAVE_MAX_PENDING: '1000000',
    };
    return withFleet({ fleet: { ledger: options.ledger, workers: 0, settings } }, async ({ running }) => {
      const bare = await startBare(running);
      try {
        return await measure({ options, running, bare, adds }, progress);
      } finally {
        await bare.close();
      }
    });
  },
};

const optionsOf = (given: Given) => ({
  connections: given.number('connections', { max: 1_000 }),
  seconds: given.number('seconds', { max: 600 }),
  users: given.number('users'),
  mem0: given.choice('mem0', ['yes', 'no']) === 'yes',
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
  readonly bare: { readonly url: string; readonly service: Service; close(): Promise<void> };
  /** How long mem0's add() took, in ms; none where it was not measured. */
  readonly adds: readonly number[];
}

/** On the same server, in a database of its own, or in a file in the same place. */
async function startBare({ postgres }: Fleet): Promise<Stage['bare']> {
  const [port, folder] = [await freePort(), await tempDir()];
  const url = `http://127.0.0.1:${port}`;
  const place = postgres === null ? ['sqlite', join(folder.path, 'bare.db')] : ['postgres', postgres.url];
  const main = new URL('bare/main.ts', import.meta.url);
  const service = await spawnService({ main, args: [String(port), ...place], ready: { url: `${url}/readyz` } });
  const close = async (): Promise<void> => {
    await service.kill();
    await folder.remove();
  };
  return { url, service, close };
}

async function measure({ options, running, bare, adds }: Stage, progress: Progress) {
  const { connections, seconds, users } = options;
  const ms = seconds * SECOND_MS;
  const ours = side(running.ingest, { connections, pids: [running.ingestPid() ?? 0] });
  const theirs = side(bare.url, { connections, pids: [bare.service.pid] });
  const bodies = bodiesOf(users);
  // The first round warms both up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`maximum, round ${round} of ${ROUNDS}`);
    for (const each of [ours, theirs]) await takeMaximum(each, { bodies, connections, ms, counts: round > 0 });
  }
  progress('at half of the maximum');
  const rate = median(ours.max) / 2;
  for (let turn = 0; turn < STEADY_TURNS; turn += 1)
    for (const each of [ours, theirs]) await takeTimes(each, { bodies, rate, ms: (ms * 2) / STEADY_TURNS });
  for (const each of [ours, theirs]) each.poster.close();
  return {
    title: `ingest: ${connections} connections, ${users} users, bodies of ${Buffer.byteLength(bodies())} bytes, on ${running.place}`,
    figures: [
      { what: 'maximum', value: median(ours.max), unit: '/s' },
      { what: '  processor time of each', value: median(ours.costs), unit: 'µs' },
      { what: 'maximum of the bare writer', value: median(theirs.max), unit: '/s' },
      { what: '  processor time of each', value: median(theirs.costs), unit: 'µs' },
      { what: 'at half of the maximum: rate', value: rate, unit: '/s' },
      ...timesOf('acknowledged within', ours.times),
      { what: '  processors taken by other programs meanwhile', value: median(ours.others) * PERCENT, unit: '%' },
      ...timesOf('by the bare writer within', theirs.times),
      ...(adds.length === 0 ? [] : timesOf(`mem0's add() with a model of ${THINK_MS} ms`, adds)),
    ],
    verdicts: [],
    comparisons: comparisonsOf({ ours: ours.max, bare: theirs.max }, { ours: ours.times, bare: theirs.times }, adds),
    remarks: [
      'The bare writer validates and writes the same rows to the same tables, with one commit for all who wait; nothing else. It writes messages as rows, which ingest leaves to the first claim.',
      'mem0 is called as a library, one exchange at a time; its add() returns when its model has answered.',
      'Where other programs take so much that half of the maximum is more than what is left, requests queue up, and the median shows that.',
    ],
  };
}

/** One of the two, and what was measured of it. */
interface Side {
  readonly poster: Poster;
  readonly pids: readonly number[];
  /** Requests per second. */
  readonly max: number[];
  /** Processor time of a request, in µs. */
  readonly costs: number[];
  /** At the steady rate, in ms. */
  readonly times: number[];
  /** The part of the processors that other programs took meanwhile. */
  readonly others: number[];
}

const side = (url: string, { connections, pids }: { connections: number; pids: readonly number[] }): Side => ({
  poster: posterTo(url, connections),
  pids,
  ...{ max: [], costs: [], times: [], others: [] },
});

async function takeMaximum(
  { poster, pids, max, costs }: Side,
  { counts, ...how }: { bodies: Bodies; connections: number; ms: number; counts: boolean },
): Promise<void> {
  const began = performance.now();
  const cost = await costOf(pids, () => flatOut(poster.post, how.bodies, how));
  if (!counts) return;
  max.push(cost.value);
  costs.push(perRequest(cost, (cost.value * (performance.now() - began)) / SECOND_MS));
}

async function takeTimes(
  { poster, pids, times, others }: Side,
  { bodies, ...how }: { bodies: Bodies; rate: number; ms: number },
): Promise<void> {
  const cost = await costOf(pids, () => steadily(poster.post, bodies, how));
  times.push(...cost.value);
  others.push(cost.others);
}

function comparisonsOf(
  max: Readonly<Record<'ours' | 'bare', readonly number[]>>,
  times: Readonly<Record<'ours' | 'bare', readonly number[]>>,
  adds: readonly number[],
): Comparison[] {
  const acknowledged = { name: 'POST /v1/batches', value: median(times.ours) };
  const mem0 = { name: `mem0's add(), model of ${THINK_MS} ms`, value: median(adds) };
  return [
    atLeast(BARE_TARGET, {
      what: 'maximum',
      unit: '/s',
      ours: { name: 'POST /v1/batches', value: median(max.ours) },
      yardstick: { name: 'a bare writer of the same rows', value: median(max.bare) },
    }),
    atMost(SLOWEST_TARGET, {
      what: '99 of 100, at half of the maximum',
      unit: 'ms',
      ours: { name: 'POST /v1/batches', value: quantile(times.ours, 0.99) },
      yardstick: { name: 'a bare writer of the same rows', value: quantile(times.bare, 0.99) },
    }),
    ...(adds.length === 0
      ? []
      : [
          atMost(MEM0_TARGET, {
            what: 'median, at half of the maximum',
            unit: 'ms',
            ours: acknowledged,
            yardstick: mem0,
          }),
        ]),
  ];
}

const timesOf = (what: string, times: readonly number[]) => [
  { what: `  ${what}, median`, value: median(times), unit: 'ms' },
  { what: `  ${what}, 99 of 100`, value: quantile(times, 0.99), unit: 'ms' },
];

import { type Fleet, startFleet } from '../fleet/fleet.ts';
import { freePort } from '../ports.ts';
import { type Service, spawnService } from '../process.ts';
import { startRedis, type TestRedis } from '../redis.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { bodiesOf } from './load/bodies.ts';
import { flatOut, steadily } from './load/drive.ts';
import { posterTo } from './load/poster.ts';
import { median, quantile } from './quantile.ts';

const SECOND_MS = 1_000;
const ROUNDS = 3; // the two take turns, so that a machine that slows down slows both down
const IDLE_MS = 3_600_000; // nothing is due meanwhile
/** What a library's call takes until it returns when its model thinks for 300 ms, as was measured with mem0's add(). */
const LIBRARY_CALL_MS = 478;
const TIMES_FASTER = 100;

/** What acknowledging costs. */
export const ingest: Bench = {
  name: 'ingest',
  what: 'How fast POST /v1/batches acknowledges, against a bare handler that puts one job into a queue.',
  flags: {
    connections: { usual: '64', help: 'Connections of the measurement of the maximum.' },
    seconds: { usual: '6', help: 'How long each of its parts takes.' },
    users: { usual: '1000', help: 'Users who take turns.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const redis = await startRedis();
    const bare = await startBare(redis);
    try {
      const settings = {
        SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS),
        SLOWWAVE_BATCH_TOKENS: '100000',
        SLOWWAVE_MAX_PENDING: '1000000',
      };
      const running = await startFleet({ ledger: options.ledger, workers: 0, durable: true, settings });
      try {
        return await measure({ options, running, bare }, progress);
      } finally {
        await running.close();
      }
    } finally {
      await bare.service.kill();
      await redis.stop();
    }
  },
};

const optionsOf = (given: Given) => ({
  connections: given.number('connections', { max: 1_000 }),
  seconds: given.number('seconds', { max: 600 }),
  users: given.number('users'),
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
  readonly bare: { readonly url: string; readonly service: Service };
}

async function startBare(redis: TestRedis): Promise<Stage['bare']> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const main = new URL('bare/main.ts', import.meta.url);
  return {
    url,
    service: await spawnService({ main, args: [String(port), redis.url], ready: { url: `${url}/readyz` } }),
  };
}

async function measure({ options, running, bare }: Stage, progress: Progress) {
  const { connections, seconds, users } = options;
  const ms = seconds * SECOND_MS;
  const ours = posterTo(running.ingest, connections);
  const theirs = posterTo(bare.url, connections);
  const bodies = bodiesOf(users);
  const max = { ours: [] as number[], bare: [] as number[] };
  // The first round warms both up and is not counted.
  for (let round = 0; round <= ROUNDS; round += 1) {
    progress(`maximum, round ${round} of ${ROUNDS}`);
    const [reached, bareReached] = [
      await flatOut(ours.post, bodies, { connections, ms }),
      await flatOut(theirs.post, bodies, { connections, ms }),
    ];
    if (round > 0) max.ours.push(reached);
    if (round > 0) max.bare.push(bareReached);
  }
  progress('at half of the maximum');
  const rate = median(max.ours) / 2;
  const times = await steadily(ours.post, bodies, { rate, ms: ms * 2 });
  const bareTimes = await steadily(theirs.post, bodies, { rate, ms: ms * 2 });
  ours.close();
  theirs.close();
  const share = median(max.ours.map((value, i) => value / (max.bare[i] ?? value)));
  const faster = LIBRARY_CALL_MS / median(times);
  return {
    title: `ingest: ${connections} connections, ${users} users, bodies of ${Buffer.byteLength(bodies())} bytes, on ${running.place}`,
    figures: [
      { what: 'maximum', value: median(max.ours), unit: '/s' },
      { what: 'maximum of the bare handler', value: median(max.bare), unit: '/s' },
      { what: 'at half of the maximum: rate', value: rate, unit: '/s' },
      ...timesOf('acknowledged within', times),
      ...timesOf('by the bare handler within', bareTimes),
    ],
    verdicts: [
      {
        what: 'maximum, against the bare handler',
        reached: `${share.toFixed(2)}×`,
        target: '1.00×',
        passed: share >= 1,
        misses: [],
      },
      {
        what: `median at half of the maximum, against a library call of ${LIBRARY_CALL_MS} ms`,
        reached: `${faster.toFixed(0)}× faster`,
        target: `${TIMES_FASTER}×`,
        passed: faster >= TIMES_FASTER,
        misses: [],
      },
    ],
    remarks: [
      'The bare handler validates and adds one job to BullMQ on Redis in memory; ours is on the disk when it is acknowledged.',
      `A library call waits for its model: ${LIBRARY_CALL_MS} ms is what mem0's add() took with a model of 300 ms.`,
    ],
  };
}

const timesOf = (what: string, times: readonly number[]) => [
  { what: `  ${what}, median`, value: median(times), unit: 'ms' },
  { what: `  ${what}, 99 of 100`, value: quantile(times, 0.99), unit: 'ms' },
];

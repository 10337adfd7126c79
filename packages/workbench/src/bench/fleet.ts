import type { ModelServer } from '@slowwave/testkit';
import { apiAt } from '../api.ts';
import { askedAgain, checkCalls } from '../fleet/calls.ts';
import { type Check, checkFleet } from '../fleet/checks.ts';
import { killInTheMiddle } from '../fleet/crash.ts';
import { gatherFleetEvidence } from '../fleet/evidence.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type Posted, postLoad } from '../fleet/load.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { fleetModel } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import type { Verdict } from './report.ts';
import { withFleet } from './with-fleet.ts';

const CONNECTIONS = 32;
const LATENCY_MS = 100; // of the model: long enough that the crash hits calls under way
const IDLE_MS = 1_000; // users are consolidated several times while the posting goes on
const WITHIN_MS = 1_800_000;
const SECOND_MS = 1_000;

/** Several workers, one of which dies in the middle. */
export const fleet: Bench = {
  name: 'fleet',
  what: 'Many users on several workers, one of which is killed (-9) in the middle: order, losses, duplicates, throughput.',
  draws: false,
  flags: {
    users: { usual: '2000', help: 'Users, each with a lane of its own.' },
    batches: { usual: '20', help: 'Batches of each user.' },
    workers: { usual: '2', help: 'Processes that consolidate.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index; without it, it is in a file.' },
    restart: { usual: 'yes', help: 'Whether the killed worker is started again: yes or no.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const settings = { SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS) };
    const model = { script: fleetModel(), latencyMs: LATENCY_MS };
    progress('starting the processes');
    return withFleet({ model, fleet: { ...options, settings } }, (started) =>
      measure({ options, ...started }, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users'),
  batches: given.number('batches', { max: 1_000 }),
  workers: given.number('workers', { min: 2, max: 50 }),
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
  qdrantUrl: given.url('qdrant'),
  restart: given.choice('restart', ['yes', 'no']) === 'yes',
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
  readonly model: ModelServer;
}

async function measure({ options, running, model }: Stage, progress: Progress) {
  const { users, batches, workers } = options;
  const apis = {
    ingest: apiAt(running.ingest, null),
    search: apiAt(running.search, null),
    console: apiAt(running.console, null),
  };
  const all = users * batches;
  const began = performance.now();
  const posted = await postWithCrash({ options, running, model }, progress);
  const postedMs = performance.now() - began;
  await untilQuiet(apis.search, {
    withinMs: WITHIN_MS,
    onCounts: ({ consolidated }) => progress(`consolidated ${consolidated} of ${all} batches`),
  });
  const doneMs = performance.now() - began;
  const evidence = await gatherFleetEvidence(apis, posted, (done) => progress(`checked ${done} of ${users} users`));
  const consolidations = evidence.users.reduce((sum, user) => sum + user.consolidations.length, 0);
  const perSecond = (count: number, ms: number): number => count / (ms / SECOND_MS);
  return {
    title: `fleet: ${users} users × ${batches} batches, ${workers} workers, one killed in the middle, on ${running.place}`,
    figures: [
      { what: 'acknowledged', value: perSecond(all, postedMs), unit: 'batches/s' },
      {
        what: 'consolidated, from the first post to the last memory',
        value: perSecond(all, doneMs),
        unit: 'batches/s',
      },
      { what: 'consolidations', value: perSecond(consolidations, doneMs), unit: '/s' },
      { what: 'batches per consolidation', value: all / consolidations, unit: '' },
      { what: 'model calls', value: model.calls.length, unit: '' },
      { what: 'asked again because of the kill', value: askedAgain(model.calls), unit: '' },
      { what: 'took', value: doneMs / SECOND_MS, unit: 's' },
    ],
    verdicts: [...checkFleet(evidence), ...checkCalls(model.calls)].map(verdictOf),
    remarks: [],
  };
}

/** Posts everything; when half of it is acknowledged a worker dies. */
async function postWithCrash({ options, running, model }: Stage, progress: Progress): Promise<Posted> {
  const { users, batches, restart } = options;
  const all = users * batches;
  let crash: Promise<void> = Promise.resolve();
  const posted = await postLoad(apiAt(running.ingest, null), {
    users,
    batches,
    connections: CONNECTIONS,
    onPosted: (count) => {
      progress(`posted ${count} of ${all} batches`);
      if (count === Math.ceil(all / 2)) crash = crashWorker(running, model, restart);
    },
  });
  await crash;
  return posted;
}

async function crashWorker(running: Fleet, model: ModelServer, restart: boolean): Promise<void> {
  await killInTheMiddle(running, model, 0);
  if (restart) await running.restartWorker(0);
}

const verdictOf = ({ what, misses }: Check): Verdict => ({
  what,
  reached: misses.length === 0 ? 'yes' : `${misses.length} misses`,
  target: '0 misses',
  passed: misses.length === 0,
  misses,
});

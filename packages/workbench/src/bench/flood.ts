import { loadavg } from 'node:os';
import { apiAt } from '../api.ts';
import { countsOf, untilQuiet } from '../fleet/quiet.ts';
import { fleetModel, textOf, userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { cpuTimes, cpuUse } from './host.ts';
import { steadily } from './load/drive.ts';
import { quantile } from './report.ts';
import { type Stand, withStand } from './stand.ts';

const SECOND_MS = 1_000;
const P95 = 0.95;
const WARM_USERS = 20; // all lanes of the first seconds' costs
const WITHIN_MS = 900_000;

/** Whether consolidating goes on while new users come all the time. */
export const flood: Bench = {
  name: 'flood',
  what: 'How much is consolidated while many new users per second post for the first time, and how long the rest takes.',
  flags: {
    rate: { usual: '140', help: 'New users per second, each with one batch.' },
    seconds: { usual: '60', help: 'For how long new users arrive, in seconds.' },
    idle: { usual: '1', help: 'Idle time in seconds after which a user is due.' },
    latency: { usual: '0', help: 'How long the model thinks about each answer, in ms.' },
    processes: { usual: 'one', help: 'one: all in one process; apart: ingest, search and worker, on Redis.' },
    drain: { usual: '1', help: '1: waits until everything is consolidated; 0: ends with the posts.' },
  },
  draws: false,
  run: async (given, progress) => {
    const options = optionsOf(given);
    const settings = { SLOWWAVE_BATCH_IDLE_MS: String(options.idle * SECOND_MS) };
    const model = { script: fleetModel(), latencyMs: options.latency };
    const fleet = { ledger: 'sqlite' as const, qdrantUrl: null, settings };
    return withStand({ processes: options.processes, model, fleet }, (stand) => measure({ options, stand }, progress));
  },
};

const optionsOf = (given: Given) => ({
  rate: given.number('rate', { max: 10_000 }),
  seconds: given.number('seconds', { max: 3_600 }),
  idle: given.number('idle', { max: 3_600 }),
  latency: given.number('latency', { min: 0, max: 60_000 }),
  processes: given.choice('processes', ['one', 'apart']),
  drain: given.number('drain', { min: 0, max: 1 }) === 1,
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly stand: Stand;
}

async function measure({ options, stand }: Stage, progress: Progress) {
  const { rate, seconds, drain } = options;
  await stand.startWorker();
  const search = apiAt(stand.search, null);
  await post(stand, { from: 0, rate: WARM_USERS, seconds: 1 });
  await untilQuiet(search, { withinMs: WITHIN_MS });
  const before = await countsOf(search);
  const [cpuBefore, loadBefore] = [await cpuTimes([]), loadavg()[0] ?? 0];
  progress(`posting for ${seconds} s`);
  const began = performance.now();
  const times = await post(stand, { from: WARM_USERS, rate, seconds });
  const took = (performance.now() - began) / SECOND_MS;
  const [cpu, load] = [cpuUse(cpuBefore, await cpuTimes([])), loadavg()[0] ?? 0];
  const after = await countsOf(search);
  const drained = drain ? await drainOf(search, progress) : null;
  const accepted = after.accepted - before.accepted;
  const consolidated = after.consolidated - before.consolidated;
  return {
    title: `flood: ${rate} new users a second for ${seconds} s, on ${stand.place}`,
    figures: [
      { what: 'acknowledged', value: accepted, unit: '' },
      { what: '  a second', value: accepted / took, unit: '/s' },
      { what: '  within, 95 of 100', value: quantile(times, P95), unit: 'ms' },
      { what: 'consolidated while they came', value: consolidated, unit: '' },
      { what: '  share', value: (100 * consolidated) / Math.max(1, accepted), unit: '%' },
      { what: '  a second', value: consolidated / took, unit: '/s' },
      ...(drained === null ? [] : [{ what: 'the rest took', value: drained, unit: 's' }]),
      ...(drained === null ? [] : [{ what: '  a second', value: (accepted - consolidated) / drained, unit: '/s' }]),
    ],
    verdicts: [],
    comparisons: [],
    remarks: [
      `Processors meanwhile: ${Math.round(cpu.busy * 100)}% busy; load average before ${loadBefore.toFixed(1)}, at the end ${load.toFixed(1)}.`,
    ],
  };
}

interface Posting {
  /** The first user. */
  readonly from: number;
  readonly rate: number;
  readonly seconds: number;
}

/** One batch of each of many users; answers with how long each acknowledgement took, in ms. */
async function post({ ingest }: Stand, { from, rate, seconds }: Posting): Promise<readonly number[]> {
  const api = apiAt(ingest, null);
  let user = from;
  const bodies = (): string => {
    const body = { user_id: userOf(user), messages: [{ role: 'user', content: textOf(user, 0) }] };
    user += 1;
    return JSON.stringify(body);
  };
  const send = async (body: string): Promise<number> => {
    await api.post('/v1/batches', JSON.parse(body));
    return body.length;
  };
  return steadily(send, bodies, { rate, ms: seconds * SECOND_MS });
}

/** Waits until nothing is under way; answers with the seconds. */
async function drainOf(search: ReturnType<typeof apiAt>, progress: Progress): Promise<number> {
  const began = performance.now();
  await untilQuiet(search, {
    withinMs: WITHIN_MS,
    onCounts: ({ pending, consolidating }) => progress(`${pending + consolidating} batches still under way`),
  });
  return (performance.now() - began) / SECOND_MS;
}

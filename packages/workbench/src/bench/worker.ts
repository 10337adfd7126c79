import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelServer, RecordedCall } from '@slowwave/testkit';
import { apiAt, ServerError } from '../api.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { countsOf } from '../fleet/quiet.ts';
import { fleetModel } from '../fleet/said.ts';
import { postBacklog } from './backlog.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { cpuTimes, cpuUse, type Sample, scrape, total } from './host.ts';
import { atLeast } from './report.ts';
import { withFleet } from './with-fleet.ts';

const TARGET = 0.95;
const SECOND_MS = 1_000;
const IDLE_MS = 3_600_000; // only what is flushed is due
const STALLED_MS = 60_000; // without a single call: something is broken

/** How well workers keep a slow model busy. */
export const worker: Bench = {
  name: 'worker',
  what: 'How busy workers keep a slow model: answers over all lanes, compared with the same number of lanes without overhead.',
  flags: {
    lanes: { usual: '50', help: 'Lanes with a model call in progress, over all workers.' },
    latency: { usual: '300', help: 'How long the model thinks about each answer, in ms.' },
    calls: { usual: '2', help: 'Calls per consolidation: 2 (extract, decide), or 1 where nothing is near.' },
    seconds: { usual: '30', help: 'How long it is measured.' },
    workers: { usual: '1', help: 'Processes that consolidate.' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
    qdrant: { usual: '', help: 'URL of a Qdrant for the index; without it, it is in a file.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { ledger, qdrantUrl } = options;
    const settings = {
      SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS),
      SLOWWAVE_CONCURRENCY: String(Math.ceil(options.lanes / options.workers)),
    };
    const model = { script: fleetModel(), latencyMs: options.latency };
    return withFleet({ model, fleet: { ledger, qdrantUrl, workers: 0, settings } }, (started) =>
      measure({ options, ...started }, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  lanes: given.number('lanes', { max: 500 }),
  latency: given.number('latency', { max: 60_000 }),
  calls: given.number('calls', { max: 2 }),
  seconds: given.number('seconds', { max: 600 }),
  workers: given.number('workers', { max: 50 }),
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
  qdrantUrl: given.url('qdrant'),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
  readonly model: ModelServer;
}

async function measure(stage: Stage, progress: Progress) {
  const { lanes, latency, calls, seconds, workers } = stage.options;
  await fill(stage, progress);
  for (let i = 0; i < workers; i += 1) await stage.running.startWorker();
  const window = await measured(stage, progress);
  const answered = window.calls.length;
  const ideal = lanes / latency;
  return {
    title: `worker: ${lanes} lanes, ${latency} ms a call, ${calls} calls a consolidation, ${workers} worker processes, ${seconds} s, on ${stage.running.place}`,
    figures: [
      { what: 'answers of the model', value: (answered / window.ms) * SECOND_MS, unit: '/s' },
      { what: 'ideal: lanes ÷ latency', value: ideal * SECOND_MS, unit: '/s' },
      { what: 'consolidations', value: (window.turns / window.ms) * SECOND_MS, unit: '/s' },
      { what: 'time in the model itself, per call', value: meanMs(window.calls), unit: 'ms' },
      ...breakdown(window),
    ],
    verdicts: [],
    comparisons: [
      atLeast(TARGET, {
        what: 'answers of the model',
        unit: '/s',
        ours: { name: 'with the workers', value: (answered / window.ms) * SECOND_MS },
        yardstick: { name: 'ideal: lanes ÷ latency', value: ideal * SECOND_MS },
      }),
    ],
    remarks: [
      'Workers consolidate half as many lanes more, so that the model is busy while some read and write.',
      `Processors: ${percent(window.cpu.busy)} busy, ${percent(window.cpu.ours)} with the workers; a machine that is full makes lanes wait.`,
    ],
  };
}

/** A backlog that lasts: one due batch for each of many users. */
async function fill({ options, running }: Stage, progress: Progress): Promise<void> {
  const { lanes, latency, calls, seconds } = options;
  const turns = Math.ceil((lanes / latency) * SECOND_MS * (seconds + RAMP_S * 2)) / calls + lanes;
  await postBacklog(apiAt(running.ingest, null), { turns: Math.ceil(turns), calls }, progress);
}

/** All lanes are taken and the first start's costs are over. */
const RAMP_S = 5;

interface Window {
  readonly ms: number;
  /** Answered within it. */
  readonly calls: readonly RecordedCall[];
  readonly turns: number;
  readonly before: readonly Sample[];
  readonly after: readonly Sample[];
  readonly cpu: ReturnType<typeof cpuUse>;
}

async function measured({ options, running, model }: Stage, progress: Progress): Promise<Window> {
  await untilCalled(model, options.lanes);
  await sleep(RAMP_S * SECOND_MS);
  const before = await scrape(running.workers);
  const cpuBefore = await cpuTimes(running.pids());
  const began = Date.now();
  for (let second = 0; second < options.seconds; second += 1) {
    progress(`measured ${second} of ${options.seconds} s`);
    await sleep(SECOND_MS);
  }
  const ended = Date.now();
  const after = await scrape(running.workers);
  const cpu = cpuUse(cpuBefore, await cpuTimes(running.pids()));
  const { pending } = await countsOf(apiAt(running.search, null));
  if (pending === 0) throw new ServerError('the backlog was worked off before the time was up: nothing can be said');
  const calls = model.calls.filter(
    ({ endedAt, status }) => status === 200 && endedAt !== null && endedAt >= began && endedAt < ended,
  );
  return {
    ms: ended - began,
    calls,
    turns: difference({ before, after }, 'slowwave_consolidations_total'),
    before,
    after,
    cpu,
  };
}

async function untilCalled(model: ModelServer, times: number): Promise<void> {
  for (const giveUp = Date.now() + STALLED_MS; model.calls.length < times; await sleep(SECOND_MS / 10)) {
    if (Date.now() > giveUp)
      throw new ServerError(`the model was asked ${model.calls.length} times in ${STALLED_MS / SECOND_MS} s`);
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(0)}%`;

const difference = (
  { before, after }: Pick<Window, 'before' | 'after'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number => total(after, name, labels) - total(before, name, labels);

const STEPS = ['gather', 'extract', 'recall', 'decide', 'plan', 'apply', 'project'] as const;

/** Where the time of a consolidation goes. */
function breakdown(window: Window) {
  const perTurn = (what: string, seconds: number) => ({
    what: `  ${what}`,
    value: (seconds * SECOND_MS) / window.turns,
    unit: 'ms',
  });
  const inModel =
    difference(window, 'slowwave_model_call_duration_seconds_sum', { kind: 'extract_facts' }) +
    difference(window, 'slowwave_model_call_duration_seconds_sum', { kind: 'decide_operations' });
  const inSteps = STEPS.map((step) => ({
    step,
    seconds: difference(window, 'slowwave_step_duration_seconds_sum', { step }),
  }));
  const all = inSteps.reduce((sum, { seconds }) => sum + seconds, 0);
  const delay = (quantile: string): number =>
    Math.max(
      ...window.after
        .filter(({ name, labels }) => name === 'slowwave_event_loop_delay_seconds' && labels.percentile === quantile)
        .map(({ value }) => value),
    ) * SECOND_MS;
  return [
    { what: 'a consolidation, from claim to end', value: (all * SECOND_MS) / window.turns, unit: 'ms, of which' },
    perTurn('calls of the model, with the wait for a free one', inModel),
    perTurn(
      'extract and decide, beside their calls',
      inSteps
        .filter(({ step }) => step === 'extract' || step === 'decide')
        .reduce((sum, { seconds }) => sum + seconds, 0) - inModel,
    ),
    ...inSteps
      .filter(({ step }) => step !== 'extract' && step !== 'decide')
      .map(({ step, seconds }) => perTurn(step, seconds)),
    { what: 'processor time of the workers, per consolidation', value: window.cpu.ms / window.turns, unit: 'ms' },
    { what: 'event loop of a worker late by, median', value: delay('0.50'), unit: 'ms' },
    { what: 'event loop of a worker late by, 99 of 100', value: delay('0.99'), unit: 'ms' },
  ];
}

const meanMs = (calls: readonly RecordedCall[]): number =>
  calls.reduce((sum, { at, endedAt }) => sum + ((endedAt ?? at) - at), 0) / Math.max(1, calls.length);

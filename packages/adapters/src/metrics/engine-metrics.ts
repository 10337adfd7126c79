import type { MeasuredCall, Meter } from '@slowwave/engine';
import { Counter, Histogram, type Registry } from 'prom-client';

const SECOND_MS = 1_000;
/** From a read of a local ledger to a model that thinks for a minute, in seconds. */
const WORK_BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** From a flush without a model to the next day's budget, in seconds. */
const WAIT_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

/** What the engine does, for Prometheus. Labels are kinds and models: never ids, of which there is no end. */
export function engineMetrics(registry: Registry): Meter {
  const registers = [registry];
  const steps = new Histogram({
    name: 'slowwave_step_duration_seconds',
    help: 'Time of each step of a consolidation',
    labelNames: ['step', 'outcome'] as const,
    buckets: WORK_BUCKETS_S,
    registers,
  });
  const searchable = new Histogram({
    name: 'slowwave_searchable_delay_seconds',
    help: 'From the acceptance of a batch to its memories in the index; batches that changed no memory are left out',
    buckets: WAIT_BUCKETS_S,
    registers,
  });
  const consolidations = new Counter({
    name: 'slowwave_consolidations_total',
    help: 'Tries to consolidate by how they ended; waits: only too early, with what they wait for',
    labelNames: ['outcome', 'reason'] as const,
    registers,
  });
  const facts = new Counter({
    name: 'slowwave_facts_total',
    help: 'Facts of applied plans by outcome',
    labelNames: ['outcome'] as const,
    registers,
  });
  const call = callMetrics(registry);
  return {
    step: (_turn, { step, failed, ...times }) =>
      steps.observe({ step, outcome: failed ? 'failed' : 'done' }, secondsOf(times)),
    call: (_turn, measured) => call(measured),
    turn: (_turn, { outcome, reason }) => consolidations.inc({ outcome, reason: reason ?? 'none' }),
    facts: (outcomes) => {
      for (const { outcome } of outcomes) facts.inc({ outcome });
    },
    searchable: (waited) => {
      for (const ms of waited) searchable.observe(Math.max(0, ms) / SECOND_MS);
    },
  };
}

function callMetrics(registry: Registry): (call: MeasuredCall) => void {
  const registers = [registry];
  const duration = new Histogram({
    name: 'slowwave_model_call_duration_seconds',
    help: 'Time of calls of models, answered or not, with waits for the provider that were short enough to sit out',
    labelNames: ['kind', 'model'] as const,
    buckets: WORK_BUCKETS_S,
    registers,
  });
  const calls = new Counter({
    name: 'slowwave_model_calls_total',
    help: 'Calls of models by outcome: answered, or the code of the failure',
    labelNames: ['kind', 'model', 'outcome'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'slowwave_model_tokens_total',
    help: 'Tokens of models, those of failed calls as far as they are known',
    labelNames: ['kind', 'model', 'direction'] as const,
    registers,
  });
  const cost = new Counter({
    name: 'slowwave_model_cost_total',
    help: "Known cost of models in the currency of the tenant's prices: US dollars at list prices",
    labelNames: ['kind', 'model'] as const,
    registers,
  });
  return ({ kind, model, failure, usage, cost: spent, ...times }) => {
    const labels = { kind, model };
    duration.observe(labels, secondsOf(times));
    calls.inc({ ...labels, outcome: failure ?? 'answered' });
    tokens.inc({ ...labels, direction: 'prompt' }, amountOf(usage.promptTokens));
    tokens.inc({ ...labels, direction: 'completion' }, amountOf(usage.completionTokens));
    cost.inc(labels, amountOf(spent));
  };
}

/** What a server says it used must not break a counter. */
const amountOf = (said: number): number => (Number.isFinite(said) && said > 0 ? said : 0);

/** A clock that was set back in between must not break a histogram. */
const secondsOf = ({ startedAt, endedAt }: { startedAt: number; endedAt: number }): number =>
  Math.max(0, endedAt - startedAt) / SECOND_MS;

import {
  type Acknowledged,
  type Embedder,
  EngineError,
  FIGURE_NAMES,
  type Limiter,
  type MeasuredCall,
  type Meter,
  type Reranker,
  type Tools,
} from '@slowwave/engine';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const SECOND_MS = 1_000;
/** From a read of a local ledger to a model that thinks for a minute, in seconds. */
const WORK_BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** From a flush without a model to the next day's budget, in seconds. */
const WAIT_BUCKETS_S = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];

/** What the engine does, for Prometheus. Labels are kinds, models and a few tenants: never ids, of which there is no end. */
export function engineMetrics(registry: Registry): Meter {
  const registers = [registry];
  const steps = new Histogram({
    name: 'slowwave_step_duration_seconds',
    help: 'Duration of each step of a consolidation',
    labelNames: ['step', 'outcome'] as const,
    buckets: WORK_BUCKETS_S,
    registers,
  });
  const searchable = new Histogram({
    name: 'slowwave_searchable_delay_seconds',
    help: 'Time from accepting a batch until its memories are in the index; without batches that changed no memory',
    buckets: WAIT_BUCKETS_S,
    registers,
  });
  const consolidations = new Counter({
    name: 'slowwave_consolidations_total',
    help: 'Attempts to consolidate by outcome; waits: postponed, with the reason',
    labelNames: ['outcome', 'reason'] as const,
    registers,
  });
  const facts = new Counter({
    name: 'slowwave_facts_total',
    help: 'Facts of applied plans by outcome',
    labelNames: ['outcome'] as const,
    registers,
  });
  const attacks = new Counter({
    name: 'slowwave_attacks_total',
    help: 'Messages of applied plans with an attack on the model, by kind',
    labelNames: ['kind'] as const,
    registers,
  });
  const call = callMetrics(registry);
  const quality = qualityMetrics(registry);
  return {
    step: (_turn, { step, failed, ...times }) =>
      steps.observe({ step, outcome: failed ? 'failed' : 'done' }, secondsOf(times)),
    call: (_turn, measured) => call(measured),
    turn: (_turn, { outcome, reason }) => consolidations.inc({ outcome, reason: reason ?? 'none' }),
    facts: (outcomes) => {
      for (const { outcome } of outcomes) facts.inc({ outcome });
    },
    attacks: (kinds) => {
      for (const kind of kinds) attacks.inc({ kind });
    },
    ...quality,
    searchable: (waited) => {
      for (const ms of waited) searchable.observe(Math.max(0, ms) / SECOND_MS);
    },
  };
}

/** Tenants of which a process counts apart; those that it sees later are counted together. */
const TENANTS_MAX = 25;
const OTHERS = '(others)';

/** How well consolidations go, and what people and outcomes say of it: sums, so that shares and means are one divided by the other. */
function qualityMetrics(registry: Registry): Pick<Meter, 'figures' | 'opinions'> {
  const registers = [registry];
  const counted = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['tenant', 'model', 'figure'] as const, registers });
  const parts = counted('slowwave_figure_parts_total', 'Numerator or sum of each figure over applied plans');
  const wholes = counted('slowwave_figure_wholes_total', 'Denominator of each figure over applied plans');
  const opinions = new Counter({
    name: 'slowwave_opinions_total',
    help: 'Settled reviews, undone or redone consolidations, ratings and outcomes, by whether they speak for or against the memories',
    labelNames: ['tenant', 'kind', 'opinion'] as const,
    registers,
  });
  const seen = new Set<string>();
  const nameOf = (tenant: string): string => {
    if (seen.size < TENANTS_MAX) seen.add(tenant);
    return seen.has(tenant) ? tenant : OTHERS;
  };
  return {
    figures: (tenant, { model, figures }) => {
      for (const figure of FIGURE_NAMES) {
        const tally = figures[figure];
        if (tally === undefined || tally.of === 0) continue;
        const labels = { tenant: nameOf(tenant), model, figure };
        parts.inc(labels, amountOf(tally.part));
        wholes.inc(labels, amountOf(tally.of));
      }
    },
    opinions: (tenant, kind, given) => {
      for (const opinion of given) opinions.inc({ tenant: nameOf(tenant), kind, opinion });
    },
  };
}

function callMetrics(registry: Registry): (call: MeasuredCall) => void {
  const registers = [registry];
  const duration = new Histogram({
    name: 'slowwave_model_call_duration_seconds',
    help: 'Duration of model calls, answered or not, including short waits for rate limits',
    labelNames: ['kind', 'model'] as const,
    buckets: WORK_BUCKETS_S,
    registers,
  });
  const calls = new Counter({
    name: 'slowwave_model_calls_total',
    help: 'Model calls by outcome: answered, or the error code',
    labelNames: ['kind', 'model', 'outcome'] as const,
    registers,
  });
  const tokens = new Counter({
    name: 'slowwave_model_tokens_total',
    help: 'Tokens of model calls. Estimated for unanswered calls that the provider may charge for; cached is part of prompt',
    labelNames: ['kind', 'model', 'cause', 'direction'] as const,
    registers,
  });
  const cost = new Counter({
    name: 'slowwave_model_cost_total',
    help: "Known cost of model calls in the currency of the tenant's prices: US dollars at list prices",
    labelNames: ['kind', 'model', 'cause'] as const,
    registers,
  });
  return ({ kind, model, cause, failure, usage, cost: spent, ...times }) => {
    const labels = { kind, model };
    const paid = { ...labels, cause: cause ?? 'none' };
    duration.observe(labels, secondsOf(times));
    calls.inc({ ...labels, outcome: failure ?? 'answered' });
    tokens.inc({ ...paid, direction: 'prompt' }, amountOf(usage.promptTokens));
    tokens.inc({ ...paid, direction: 'cached' }, amountOf(usage.cachedTokens ?? 0));
    tokens.inc({ ...paid, direction: 'completion' }, amountOf(usage.completionTokens));
    cost.inc(paid, amountOf(spent));
  };
}

/** What a server says it used must not break a counter. */
const amountOf = (said: number): number => (Number.isFinite(said) && said > 0 ? said : 0);

/** A clock that was set back in between must not break a histogram. */
const secondsOf = ({ startedAt, endedAt }: { startedAt: number; endedAt: number }): number =>
  Math.max(0, endedAt - startedAt) / SECOND_MS;

/** From an idle disk (under 1 ms) to a ledger that is nearly away, in seconds. */
const ACKNOWLEDGE_BUCKETS_S = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export function ingestMetrics(registry: Registry): (acknowledged: Acknowledged) => void {
  const duration = new Histogram({
    name: 'slowwave_acknowledge_duration_seconds',
    help: 'Time from a request until its batch is durable',
    labelNames: ['repeated'] as const,
    buckets: ACKNOWLEDGE_BUCKETS_S,
    registers: [registry],
  });
  const ahead = new Counter({
    name: 'slowwave_future_timestamps_total',
    help: 'Messages with a timestamp more than a minute after they were accepted: often local time that is sent as UTC',
    registers: [registry],
  });
  return ({ startedAt, endedAt, repeated, fromTheFuture }) => {
    duration.observe({ repeated: String(repeated) }, Math.max(0, endedAt - startedAt) / SECOND_MS);
    if (!repeated) ahead.inc(fromTheFuture);
  };
}

/** Entries of the audit log that this process has written, and those that it could not. */
export function auditMetrics(registry: Registry): (outcome: 'written' | 'lost', count: number) => void {
  const entries = new Counter({
    name: 'slowwave_audit_entries_total',
    help: 'Audit log entries by outcome: written, lost',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome, count) => entries.inc({ outcome }, count);
}

/** Receipts of answers of this process: written, left out because there were too many at once, and those that it could not write. */
export function receiptMetrics(registry: Registry): (outcome: 'written' | 'omitted' | 'lost', count: number) => void {
  const receipts = new Counter({
    name: 'slowwave_receipts_total',
    help: 'Receipts by outcome: written, omitted (too many answers at once), lost',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  return (outcome, count) => receipts.inc({ outcome }, count);
}

/** Where the vector of a question came from: this process, the cache that all share, or the model. */
type VectorSource = 'memory' | 'shared' | 'model';

export function countQueryVectors(registry: Registry): (source: VectorSource) => void {
  const counter = new Counter({
    name: 'slowwave_query_vectors_total',
    help: 'Queries by where their vector came from: memory and shared are caches, model is the embedding model',
    labelNames: ['source'] as const,
    registers: [registry],
  });
  return (source) => counter.inc({ source });
}

/** A limiter that counts how often, and for how long, calls of a model had to wait for its provider. */
export function countWaits(limiter: Limiter, registry: Registry): Limiter {
  const counter = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['model'] as const, registers: [registry] });
  const waits = counter('slowwave_rate_limit_waits_total', 'Times a model call had to wait for rate limits');
  const seconds = counter('slowwave_rate_limit_wait_seconds_total', 'Time model calls had to wait for rate limits');
  const pauses = counter('slowwave_rate_limit_pauses_total', 'Times a provider refused a call and all workers paused');
  return {
    reserve: async (model, tokens) => {
      const answer = await limiter.reserve(model, tokens);
      if (answer.kind === 'wait') {
        waits.inc({ model });
        seconds.inc({ model }, answer.ms / SECOND_MS);
      }
      return answer;
    },
    correct: (model, id, tokens) => limiter.correct(model, id, tokens),
    pause: (model, ms) => {
      pauses.inc({ model });
      return limiter.pause(model, ms);
    },
    close: () => limiter.close(),
  };
}

/** What knows how the breaker of each model stands. */
interface Breaking {
  breakers(): Readonly<Record<string, string>>;
}

/** Which models this process leaves alone because they keep failing; asked for when metrics are. */
export function measureBreakers(registry: Registry, { breakers }: Breaking): void {
  new Gauge({
    name: 'slowwave_breaker_open',
    help: '1 while this process pauses calls to the model or only probes it, otherwise 0',
    labelNames: ['model'] as const,
    registers: [registry],
    collect() {
      for (const [model, kind] of Object.entries(breakers())) this.set({ model }, kind === 'closed' ? 0 : 1);
    },
  });
}

/** A ledger that lets several writes share one commit. */
interface Grouping {
  committed(): Promise<{ readonly commits: number; readonly calls: number }>;
}

/** How many writes shared how many commits; asked for when metrics are. */
export function countCommits(registry: Registry, ledger: Grouping): void {
  const registers = [registry];
  const counted = (name: string, help: string, of: 'commits' | 'calls'): void => {
    new Counter({
      name,
      help,
      registers,
      async collect() {
        const total = (await ledger.committed())[of];
        this.reset();
        this.inc(total);
      },
    });
  };
  counted('slowwave_ledger_group_commits_total', 'Commits of grouped writes by this process', 'commits');
  counted('slowwave_ledger_grouped_writes_total', 'Writes by this process that shared those commits', 'calls');
}

interface Metering {
  readonly meter: Pick<Meter, 'call'>;
  readonly tools: Pick<Tools, 'now'>;
}

const NO_TOKENS = { promptTokens: 0, completionTokens: 0 };

/** An embedder whose calls are counted like those of chat models. */
export function meteredEmbedder(embedder: Embedder, metering: Metering): Embedder {
  const { fingerprint: model, dimensions } = embedder;
  const measured = measuring(metering, { kind: 'embed', model });
  return {
    fingerprint: model,
    dimensions,
    embed: (texts, cancel) =>
      measured(
        () => embedder.embed(texts, cancel),
        ({ usage }) => usage,
      ),
  };
}

/** A reranker whose calls are counted like those of chat models; what it reads nobody says. */
export function meteredReranker(reranker: Reranker, { model, ...metering }: Metering & { model: string }): Reranker {
  const measured = measuring(metering, { kind: 'rerank', model });
  return {
    rerank: (question, cancel) =>
      measured(
        () => reranker.rerank(question, cancel),
        () => NO_TOKENS,
      ),
  };
}

/** Counts calls as they end, except those that were cancelled. */
function measuring({ meter, tools }: Metering, called: Pick<MeasuredCall, 'kind' | 'model'>) {
  return async <T>(call: () => Promise<T>, usageOf: (answer: T) => MeasuredCall['usage']): Promise<T> => {
    const startedAt = tools.now();
    const count = (ended: Pick<MeasuredCall, 'failure' | 'usage'>): void =>
      meter.call(null, { ...ended, ...called, cause: null, cost: 0, startedAt, endedAt: tools.now() });
    try {
      const answer = await call();
      count({ failure: null, usage: usageOf(answer) });
      return answer;
    } catch (error) {
      const failure = error instanceof EngineError ? error.code : 'unknown';
      if (failure !== 'cancelled') count({ failure, usage: NO_TOKENS });
      throw error;
    }
  };
}

/** Owners that sleep, and what this process does about them. */
export function coldMetrics(
  registry: Registry,
  cold: {
    readonly counts: Readonly<Record<'woken' | 'read' | 'opened', number>>;
    sleeping(): Promise<{ readonly owners: number; readonly bytes: number }>;
  },
): void {
  const registers = [registry];
  new Gauge({
    name: 'slowwave_cold_owners',
    help: 'Owners that sleep in segments outside the ledger',
    registers,
    async collect() {
      this.set((await cold.sleeping()).owners);
    },
  });
  new Gauge({
    name: 'slowwave_cold_bytes',
    help: 'Bytes of their segments',
    registers,
    async collect() {
      this.set((await cold.sleeping()).bytes);
    },
  });
  new Counter({
    name: 'slowwave_cold_total',
    help: 'Use of segments by this process: owners woken, requests answered from a segment (read), segments opened',
    labelNames: ['what'] as const,
    registers,
    collect() {
      this.reset();
      for (const [what, count] of Object.entries(cold.counts)) this.inc({ what }, count);
    },
  });
}

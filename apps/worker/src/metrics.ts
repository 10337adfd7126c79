import {
  type Attempted,
  type BatchCounts,
  CHECKS,
  DEFAULT_TENANT,
  dayOf,
  type EngineDeps,
  type Examination,
  examine,
  type Ledger,
  type NightOutcome,
  OPEN_CANARY_STATES,
  oldestUnprojected,
  payerOf,
  rungOn,
  type StudyOutcome,
} from '@slowwave/engine';
import { Counter, Gauge, type Registry } from '@slowwave/http';

const SECOND_MS = 1_000;

/** What a queue knows of its jobs. */
interface Counting {
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** Registers figures that are read when metrics are scraped. Returns counters of attempts: webhooks, studies, nights. */
export function measure(metrics: Registry, deps: EngineDeps, schedule: Counting) {
  measureLedger(metrics, deps);
  measureDoctor(metrics, deps);
  measureCanaries(metrics, deps);
  measureEconomies(metrics, deps);
  measureHolds(metrics, deps);
  measureQueue(metrics, schedule);
  return {
    attempted: measureWebhooks(metrics, deps),
    studied: measureStudies(metrics, deps),
    slept: measureNights(metrics),
  };
}

type Deps = Pick<EngineDeps, 'ledger' | 'tools' | 'embedder'>;

/** A figure that is read when metrics are scraped. */
function gauge(metrics: Registry, [name, help]: readonly [string, string], read: () => Promise<number>): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    async collect() {
      this.set(await read());
    },
  });
}

/** Seconds since a moment; 0 where there is none, or a clock was set back. */
const ageOf = (at: number | null, { now }: EngineDeps['tools']): number =>
  at === null ? 0 : Math.max(0, now() - at) / SECOND_MS;

function measureLedger(metrics: Registry, { ledger, tools, embedder }: Deps): void {
  new Gauge({
    name: 'slowwave_batches',
    help: 'Batches by state; accepted is the sum of all others.',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      const all = await countsByTenant(ledger);
      for (const state of Object.keys(all[0] ?? {}) as (keyof BatchCounts)[])
        this.set({ state }, sum(all.map((counts) => counts[state])));
    },
  });
  gauge(
    metrics,
    ['slowwave_conservation_gap', 'Accepted batches that are in no state. Anything but 0 means lost batches.'],
    async () =>
      // Per tenant: a surplus of one must not hide a loss of another.
      sum((await countsByTenant(ledger)).map((counts) => Math.abs(gapOf(counts)))),
  );
  gauge(metrics, ['slowwave_outbox_entries', 'Changes that are not yet in the index.'], () => ledger.overview.outbox());
  gauge(
    metrics,
    ['slowwave_outbox_oldest_seconds', 'The minimum age of the oldest change that is not yet in the index.'],
    async () => ageOf(await oldestUnprojected({ ledger }), tools),
  );
  gauge(
    metrics,
    ['slowwave_lanes_set_aside', 'Owners whose changes could not be written to the index; each is retried separately.'],
    () => ledger.outbox.countAside(),
  );
  gauge(
    metrics,
    ['slowwave_refused_texts', 'Texts that the embedding model rejects permanently; they are only found by keywords.'],
    () => ledger.thoughts.refusedTexts(embedder.fingerprint),
  );
  gauge(
    metrics,
    ['slowwave_oldest_due_seconds', 'How long the oldest due lane has been waiting: whether workers make progress.'],
    async () => ageOf(await ledger.overview.oldestDue(tools.now()), tools),
  );
}

function measureCanaries(metrics: Registry, { ledger }: Deps): void {
  new Gauge({
    name: 'slowwave_canaries',
    help: 'Open canaries by state. A halted canary waits for a decision or is being undone.',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      const { open } = await ledger.canaries.counts();
      for (const state of OPEN_CANARY_STATES) this.set({ state }, open[state] ?? 0);
    },
  });
  gauge(
    metrics,
    ['slowwave_lanes_held', 'Owners whose batches wait because a canary has halted.'],
    async () => (await ledger.canaries.counts()).held,
  );
}

function measureEconomies(metrics: Registry, { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>): void {
  new Gauge({
    name: 'slowwave_economy_rung',
    help: 'Saving level of a tenant: 1 larger batches, 2 cheaper models, 3 no summary and no graph, 4 waiting. Other tenants save nothing.',
    labelNames: ['tenant'],
    registers: [metrics],
    async collect() {
      this.reset();
      for (const { tenant, ...economy } of await ledger.limits.economies())
        this.set({ tenant }, rungOn(economy, dayOf(tools.now())));
    },
  });
}

function measureHolds(metrics: Registry, { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>): void {
  new Gauge({
    name: 'slowwave_holds',
    help: 'Users (owner), apps and keys that are held today because they used far more than usual.',
    labelNames: ['kind'],
    registers: [metrics],
    async collect() {
      const held = await ledger.limits.heldOn(dayOf(tools.now()));
      for (const kind of ['owner', 'app', 'key'] as const) this.set({ kind }, held[kind] ?? 0);
    },
  });
}

/** Of every tenant, shadow spaces left out. */
async function countsByTenant({ audit, overview }: Ledger): Promise<readonly BatchCounts[]> {
  const tenants = new Set([DEFAULT_TENANT, ...(await audit.tenants())].filter((tenant) => payerOf(tenant) === tenant));
  return Promise.all([...tenants].map((tenant) => overview.batches(tenant)));
}

const gapOf = ({ accepted, ...states }: BatchCounts): number => accepted - sum(Object.values(states));

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Scrapes within this time get the same result. */
const EVERY_MS = 60_000;

/** The findings of the doctor's quick checks, at most once a minute. */
function measureDoctor(metrics: Registry, deps: EngineDeps): void {
  let last: Examination | null = null;
  new Gauge({
    name: 'slowwave_doctor_findings',
    help: 'Findings of quick checks by check and severity; slowwave doctor explains them and what to run.',
    labelNames: ['check', 'severity'],
    registers: [metrics],
    async collect() {
      // The other metrics are useful even if the index or the ledger does not respond; readyz reports that.
      if (last === null || deps.tools.now() - last.at > EVERY_MS) last = await quick(deps).catch(() => null);
      this.reset();
      for (const check of CHECKS) {
        for (const severity of ['error', 'warning'] as const) {
          const found = last?.findings.filter((one) => one.check === check && one.severity === severity) ?? [];
          if (last !== null) this.set({ check, severity }, found.length);
        }
      }
    },
  });
}

const quick = (deps: EngineDeps): Promise<Examination> =>
  examine({ ...deps, thinker: deps }, { depth: 'quick', cancel: new AbortController().signal });

/** How many turns of lanes are in the queue. An unavailable queue has no figures. */
function measureQueue(metrics: Registry, schedule: Counting): void {
  new Gauge({
    name: 'slowwave_queue_jobs',
    help: 'Turns of lanes in the queue by state: wait and prioritized are due, delayed are not yet',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      this.reset();
      // The other metrics are useful even if the queue is unavailable; readyz reports that.
      const jobs = await schedule.jobs().catch(() => ({}));
      for (const [state, count] of Object.entries(jobs)) this.set({ state }, count);
    },
  });
}

/** Figures of the graph's studies. Returns a counter of attempts. */
function measureStudies(metrics: Registry, { ledger }: Pick<EngineDeps, 'ledger'>): (outcome: StudyOutcome) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_studies',
    help: 'Waiting and parked studies of the graph.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { pending, parked } = await ledger.graph.counts();
      this.set({ state: 'pending' }, pending);
      this.set({ state: 'parked' }, parked);
    },
  });
  const tries = new Counter({
    name: 'slowwave_studies_total',
    help: 'Attempts to study by outcome: applied, retry, parked, waits, given_back, fenced.',
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => tries.inc({ outcome });
}

/** Returns a counter of nights by how they ended. */
function measureNights(metrics: Registry): (outcome: NightOutcome) => void {
  const nights = new Counter({
    name: 'slowwave_nights_total',
    help: 'Attempts at nights by outcome: applied, waiting, rested, retry, failed, given_back, fenced.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return (outcome) => nights.inc({ outcome });
}

/** Figures of webhooks. Returns a counter of attempts. */
function measureWebhooks(
  metrics: Registry,
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
): (attempted: Attempted) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_webhook_deliveries',
    help: 'Waiting deliveries of webhooks, and those that failed permanently and were not replayed.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { waiting, failed } = await ledger.webhooks.backlog();
      this.set({ state: 'waiting' }, waiting);
      this.set({ state: 'failed' }, failed);
    },
  });
  gauge(metrics, ['slowwave_webhook_oldest_seconds', 'The age of the oldest waiting delivery.'], async () =>
    ageOf((await ledger.webhooks.backlog()).oldest, tools),
  );
  const attempts = new Counter({
    name: 'slowwave_webhook_attempts_total',
    help: 'Attempts to deliver events to webhooks, by outcome: delivered, retried, failed.',
    labelNames: ['outcome'],
    registers,
  });
  return (attempted) => attempts.inc({ outcome: outcomeOf(attempted) });
}

function outcomeOf(attempted: Attempted): string {
  if (attempted.kind === 'delivered') return 'delivered';
  return attempted.retryAt === null ? 'failed' : 'retried';
}

import {
  type Attempted,
  type BatchCounts,
  CHECKS,
  DEFAULT_TENANT,
  type EngineDeps,
  type Examination,
  examine,
  type Ledger,
  oldestUnprojected,
  payerOf,
  type StudyOutcome,
} from '@slowwave/engine';
import { Counter, Gauge, type Registry } from '@slowwave/http';

const SECOND_MS = 1_000;

/** What a queue knows of its jobs. */
interface Counting {
  jobs(): Promise<Readonly<Record<string, number>>>;
}

/** Figures that are read when metrics are asked for. What comes back counts attempts to tell webhooks, and tries to study. */
export function measure(metrics: Registry, deps: EngineDeps, schedule: Counting) {
  measureLedger(metrics, deps);
  measureDoctor(metrics, deps);
  measureQueue(metrics, schedule);
  return { attempted: measureWebhooks(metrics, deps), studied: measureStudies(metrics, deps) };
}

type Deps = Pick<EngineDeps, 'ledger' | 'tools' | 'embedder'>;

/** Figures of the ledger, read when metrics are asked for. */
function measureLedger(metrics: Registry, { ledger, tools, embedder }: Deps): void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_batches',
    help: 'Batches by state; accepted is the sum of all the others.',
    labelNames: ['state'],
    registers,
    async collect() {
      const all = await countsByTenant(ledger);
      for (const state of Object.keys(all[0] ?? {}) as (keyof BatchCounts)[])
        this.set({ state }, sum(all.map((counts) => counts[state])));
    },
  });
  new Gauge({
    name: 'slowwave_conservation_gap',
    help: 'Accepted batches that are in no state: anything but 0 means loss.',
    registers,
    async collect() {
      // What one tenant lacks is not made up for by another that has too much.
      this.set(sum((await countsByTenant(ledger)).map((counts) => Math.abs(gapOf(counts)))));
    },
  });
  new Gauge({
    name: 'slowwave_outbox_entries',
    help: 'Changes the index has not been told yet.',
    registers,
    async collect() {
      this.set(await ledger.overview.outbox());
    },
  });
  new Gauge({
    name: 'slowwave_outbox_oldest_seconds',
    help: 'How long the oldest change the index has not been told has been waiting, at least.',
    registers,
    async collect() {
      const changedAt = await oldestUnprojected({ ledger });
      this.set(changedAt === null ? 0 : Math.max(0, tools.now() - changedAt) / SECOND_MS);
    },
  });
  new Gauge({
    name: 'slowwave_lanes_set_aside',
    help: 'Owners whose changes could not be written to the index: each is tried again by itself.',
    registers,
    async collect() {
      this.set(await ledger.outbox.countAside());
    },
  });
  new Gauge({
    name: 'slowwave_refused_texts',
    help: 'Texts that the embedding model refuses for good: they are found by their words alone.',
    registers,
    async collect() {
      this.set(await ledger.thoughts.refusedTexts(embedder.fingerprint));
    },
  });
  new Gauge({
    name: 'slowwave_oldest_due_seconds',
    help: 'How long the oldest due lane has been waiting: whether workers make progress.',
    registers,
    async collect() {
      const now = tools.now();
      const oldest = await ledger.overview.oldestDue(now);
      this.set(oldest === null ? 0 : (now - oldest) / SECOND_MS);
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

/** Whoever asks for metrics more often is told the same once more. */
const EVERY_MS = 60_000;

/** What the doctor finds by figures that are at hand, at most once a minute. */
function measureDoctor(metrics: Registry, deps: EngineDeps): void {
  let last: Examination | null = null;
  new Gauge({
    name: 'slowwave_doctor_findings',
    help: 'Findings of quick checks by check and severity; slowwave doctor says what they are and what to run.',
    labelNames: ['check', 'severity'],
    registers: [metrics],
    async collect() {
      // The rest is worth telling also while the index or the ledger does not answer; readyz says that.
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
  examine(deps, { depth: 'quick', cancel: new AbortController().signal });

/** How many turns of lanes the queue holds, read when metrics are asked for. A queue that is away has no figures. */
function measureQueue(metrics: Registry, schedule: Counting): void {
  new Gauge({
    name: 'slowwave_queue_jobs',
    help: 'Turns of lanes in the queue by state: wait and prioritized are due, delayed are not yet',
    labelNames: ['state'],
    registers: [metrics],
    async collect() {
      this.reset();
      // The rest is worth telling also while the queue is away; readyz says that it is.
      const jobs = await schedule.jobs().catch(() => ({}));
      for (const [state, count] of Object.entries(jobs)) this.set({ state }, count);
    },
  });
}

/** Figures of the graph's studies. What comes back counts a try. */
function measureStudies(metrics: Registry, { ledger }: Pick<EngineDeps, 'ledger'>): (outcome: StudyOutcome) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_studies',
    help: 'Studies of the graph that wait, and that are parked.',
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
    help: 'Tries to study by how they ended: applied, retry, parked, waits, given_back, fenced.',
    labelNames: ['outcome'],
    registers,
  });
  return (outcome) => tries.inc({ outcome });
}

/** Figures of webhooks. What comes back counts an attempt. */
function measureWebhooks(
  metrics: Registry,
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
): (attempted: Attempted) => void {
  const registers = [metrics];
  new Gauge({
    name: 'slowwave_webhook_deliveries',
    help: 'Deliveries of webhooks that wait, and that have failed for good and were not replayed.',
    labelNames: ['state'],
    registers,
    async collect() {
      const { waiting, failed } = await ledger.webhooks.backlog();
      this.set({ state: 'waiting' }, waiting);
      this.set({ state: 'failed' }, failed);
    },
  });
  new Gauge({
    name: 'slowwave_webhook_oldest_seconds',
    help: 'Age of the oldest delivery that waits.',
    registers,
    async collect() {
      const { oldest } = await ledger.webhooks.backlog();
      this.set(oldest === null ? 0 : Math.max(0, tools.now() - oldest) / SECOND_MS);
    },
  });
  const attempts = new Counter({
    name: 'slowwave_webhook_attempts_total',
    help: 'Attempts to tell webhooks, by outcome: delivered, retried, failed.',
    labelNames: ['outcome'],
    registers,
  });
  return (attempted) => attempts.inc({ outcome: outcomeOf(attempted) });
}

function outcomeOf(attempted: Attempted): string {
  if (attempted.kind === 'delivered') return 'delivered';
  return attempted.retryAt === null ? 'failed' : 'retried';
}

import {
  type BatchCounts,
  DEFAULT_TENANT,
  type EngineDeps,
  type Ledger,
  oldestUntold,
  payerOf,
} from '@slowwave/engine';
import { Gauge, type Registry } from '@slowwave/http';

const SECOND_MS = 1_000;

type Deps = Pick<EngineDeps, 'ledger' | 'tools' | 'embedder'>;

/** Figures of the ledger, read when metrics are asked for. */
export function measureLedger(metrics: Registry, { ledger, tools, embedder }: Deps): void {
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
      const changedAt = await oldestUntold({ ledger });
      this.set(changedAt === null ? 0 : Math.max(0, tools.now() - changedAt) / SECOND_MS);
    },
  });
  new Gauge({
    name: 'slowwave_lanes_set_aside',
    help: 'Owners whose changes the index could not be told: each is tried again by itself.',
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

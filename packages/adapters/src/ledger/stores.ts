import type { Compaction, LaneId, Millis, StoredLedger } from '@slowwave/engine';
import { auditStore } from './audit.ts';
import type { OwnedBy } from './away.ts';
import { type AppendOrAway, batchStore } from './batches.ts';
import { bulkStore } from './bulk.ts';
import { bundleStore } from './bundle/bundles.ts';
import { canaryStore } from './canaries.ts';
import { coldStore } from './cold.ts';
import { contentStore, lookupStore } from './contents.ts';
import { departureStore } from './departures.ts';
import { erasureStore } from './erasures.ts';
import { type Filtering, filteredStore } from './filtered.ts';
import { type AroundStore, graphStore } from './graph/graph-store.ts';
import { keyStore, linkStore } from './keys.ts';
import { laneStore } from './lanes.ts';
import { limitStore, shareStore } from './limits.ts';
import { memoryStore, saidIdStore } from './memories.ts';
import { nightStore } from './nights.ts';
import { outboxStore } from './outbox.ts';
import { overviewStore } from './overview.ts';
import { presentStore } from './present.ts';
import { receiptStore } from './receipts.ts';
import { replayStore, suiteStore } from './replays.ts';
import { retentionStore } from './retention.ts';
import { reviewStore, topicStore } from './reviews.ts';
import { type Access, first, read, run, storeOf, write } from './script.ts';
import { modelStore, settingsStore } from './settings.ts';
import { speechStore } from './speech.ts';
import { summaryStore } from './summaries.ts';
import { taskStateStore } from './task-states.ts';
import { tenantCopyStore } from './tenant-copies.ts';
import { thoughtStore } from './thoughts.ts';
import { trailStore } from './trail.ts';
import { undoStore } from './undos.ts';
import { usageStore } from './usage.ts';
import { webhookStore } from './webhooks.ts';

/** What each ledger does in its own way. */
interface Own {
  /** What is written most. */
  readonly append: AppendOrAway;
  /** Looks around in a graph. */
  readonly around: (access: Access) => AroundStore;
  /** Overwrites what was erased and is free to be overwritten. */
  compact(): Promise<Compaction>;
  readonly filtering: Filtering;
  newLaneId(of: OwnedBy): LaneId;
}

/** The stores of any SQL ledger. Whoever loads this knows every script by its name. */
export const storesOf = (access: Access, { append, around, compact, filtering, newLaneId }: Own) =>
  ({
    audit: auditStore(access),
    batches: batchStore(access, append),
    bulk: bulkStore(access),
    bundles: bundleStore(access),
    canaries: canaryStore(access),
    cold: coldStore(access),
    copies: tenantCopyStore(access),
    contents: contentStore(access),
    departures: departureStore(access),
    erasures: erasureStore(access, compact),
    filtered: filteredStore(access, filtering),
    graph: graphStore(access, around),
    keys: keyStore(access),
    links: linkStore(access),
    lookups: lookupStore(access),
    lanes: laneStore(access),
    limits: limitStore(access),
    memories: memoryStore(access, newLaneId),
    models: modelStore(access),
    nights: nightStore(access),
    outbox: outboxStore(access),
    overview: overviewStore(access),
    present: presentStore(access),
    receipts: receiptStore(access),
    replays: replayStore(access),
    retention: retentionStore(access),
    reviews: reviewStore(access),
    saidIds: saidIdStore(access),
    settings: settingsStore(access),
    shares: shareStore(access),
    speech: speechStore(access),
    suites: suiteStore(access),
    summaries: summaryStore(access),
    taskStates: taskStateStore(access),
    thoughts: thoughtStore(access),
    topics: topicStore(access),
    trail: trailStore(access),
    undos: undoStore(access),
    usage: usageStore(access),
    webhooks: webhookStore(access),
  }) satisfies Partial<StoredLedger>;

interface Proving {
  /** Reads one row, which only a ledger that is there can. */
  readable(): Promise<void>;
  /** Writes one row, which only a healthy ledger can. */
  writable(now: Millis): Promise<void>;
}

export const proving = storeOf<Proving>('ledger', {
  readable: read(function* () {
    yield* first("SELECT value FROM meta WHERE key = 'ledger_id'");
  }),
  writable: write(function* (now) {
    yield* run(
      `INSERT INTO meta (key, value) VALUES ('checked_at', @at) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      { at: String(now) },
    );
  }),
});

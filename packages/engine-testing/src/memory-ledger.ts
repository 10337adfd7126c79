import type { Ledger, Tools } from '@slowwave/engine';
import { memoryAudit } from './memory-ledger-audit.ts';
import { memoryBatches } from './memory-ledger-batches.ts';
import { memoryBulk } from './memory-ledger-bulk.ts';
import { memoryCanaries } from './memory-ledger-canaries.ts';
import { memoryContents } from './memory-ledger-contents.ts';
import { memoryDepartures } from './memory-ledger-departures.ts';
import { memoryErasures } from './memory-ledger-erasures.ts';
import { memoryFiltered } from './memory-ledger-filtered.ts';
import { memoryGraph } from './memory-ledger-graph.ts';
import { memoryKeys, memoryLinks } from './memory-ledger-keys.ts';
import { memoryLanes } from './memory-ledger-lanes.ts';
import { memoryLimits } from './memory-ledger-limits.ts';
import { memoryLookups } from './memory-ledger-lookups.ts';
import { memoryMemories } from './memory-ledger-memories.ts';
import { memoryNights } from './memory-ledger-nights.ts';
import { memoryOutbox } from './memory-ledger-outbox.ts';
import { memoryOverview } from './memory-ledger-overview.ts';
import { memoryPresent } from './memory-ledger-present.ts';
import { memoryReceipts } from './memory-ledger-receipts.ts';
import { memoryReplays } from './memory-ledger-replays.ts';
import { memoryRetention } from './memory-ledger-retention.ts';
import { memoryReviews } from './memory-ledger-reviews.ts';
import { memorySaidIds } from './memory-ledger-said-ids.ts';
import { memoryModels, memorySettings } from './memory-ledger-settings.ts';
import { memoryShares } from './memory-ledger-shares.ts';
import { memorySpeech } from './memory-ledger-speech.ts';
import { emptyState } from './memory-ledger-state.ts';
import { memorySuites } from './memory-ledger-suites.ts';
import { memorySummaries } from './memory-ledger-summaries.ts';
import { memoryTaskStates } from './memory-ledger-task-states.ts';
import { memoryThoughts } from './memory-ledger-thoughts.ts';
import { memoryTopics } from './memory-ledger-topics.ts';
import { memoryTrail } from './memory-ledger-trail.ts';
import { memoryUndos } from './memory-ledger-undos.ts';
import { memoryUsage } from './memory-ledger-usage.ts';
import { memoryWebhooks } from './memory-ledger-webhooks.ts';

/** A ledger in memory: the reference for what the others must do. Atomic because no method waits midway. */
export function createMemoryLedger({ tools }: { tools: Tools }): Ledger {
  const state = emptyState(tools);
  return {
    id: tools.id('led'),
    batches: memoryBatches(state),
    bulk: memoryBulk(state),
    lanes: memoryLanes(state),
    thoughts: memoryThoughts(state),
    summaries: memorySummaries(state),
    memories: memoryMemories(state),
    taskStates: memoryTaskStates(state),
    saidIds: memorySaidIds(state),
    filtered: memoryFiltered(memoryMemories(state)),
    present: memoryPresent(state),
    speech: memorySpeech(state),
    reviews: memoryReviews(state),
    replays: memoryReplays(state),
    suites: memorySuites(state),
    undos: memoryUndos(state),
    canaries: memoryCanaries(state),
    settings: memorySettings(state),
    shares: memoryShares(state),
    models: memoryModels(state),
    nights: memoryNights(state),
    keys: memoryKeys(state),
    links: memoryLinks(state),
    outbox: memoryOutbox(state),
    overview: memoryOverview(state),
    audit: memoryAudit(state),
    contents: memoryContents(state),
    lookups: memoryLookups(state),
    retention: memoryRetention(state),
    erasures: memoryErasures(state),
    departures: memoryDepartures(state),
    webhooks: memoryWebhooks(state),
    graph: memoryGraph(state),
    topics: memoryTopics(state),
    trail: memoryTrail(state),
    receipts: memoryReceipts(state),
    usage: memoryUsage(state),
    limits: memoryLimits(state),
    check: async () => {},
    close: async () => {},
  };
}

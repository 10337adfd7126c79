import type { LaneId, MemoryStore, OverviewStore, SummaryStore, ThoughtStore } from '@slowwave/engine';
import { holdsTurn } from '../../ledger/turn.ts';
import { countRefused } from '../../ledger/vectors.ts';
import type { Access } from './access.ts';
import { findLane, oldestDue } from './read/lanes.ts';
import * as memories from './read/memories.ts';
import { outboxLength } from './read/outbox.ts';
import * as overview from './read/overview.ts';
import { messagesById, sourcesOf } from './read/sources.ts';
import { dueSummary, readSummary } from './read/summaries.ts';
import * as thoughts from './read/thoughts.ts';
import { runScript } from './script.ts';

export function thoughtStore({ read, write }: Access): ThoughtStore {
  return {
    gather: (turn, recentCount) => read((sql) => thoughts.gather(sql, turn, recentCount)),
    context: (lane, scope, recentCount) => read((sql) => thoughts.contextOf(sql, { lane, scope, recentCount })),
    answer: (consolidationId, step, inputHash) =>
      read((sql) => thoughts.findAnswer(sql, { consolidationId, step, inputHash })),
    holds: (turn) => read((sql) => runScript(sql, holdsTurn(turn))),
    storeAnswer: (turn, answer) => write('storeAnswer', { turn, answer }),
    answers: (consolidationId) => read((sql) => thoughts.answersOf(sql, consolidationId)),
    countFailedCall: (turn, call) => write('countFailedCall', { turn, call }),
    storePlan: (turn, plan) => write('storePlan', { turn, plan }),
    plan: (consolidationId) => read((sql) => thoughts.planOf(sql, consolidationId)),
    get: (tenant, id) => read((sql) => thoughts.getConsolidation(sql, tenant, id)),
    list: (tenant, filter, page) => read((sql) => thoughts.listConsolidations(sql, { tenant, filter, page })),
    vectors: (lane, fingerprint, textHashes) =>
      read((sql) => thoughts.vectorsOf(sql, { lane, fingerprint, textHashes })),
    storeVectors: (lane, fingerprint, vectors) => write('storeVectors', { lane, fingerprint, vectors }),
    refusedTexts: (fingerprint) => read((sql) => runScript(sql, countRefused(fingerprint))),
  };
}

export function summaryStore({ read, write }: Access): SummaryStore {
  return {
    due: (turn, every) => read((sql) => dueSummary(sql, turn, every)),
    read: (refresh, how) => read((sql) => readSummary(sql, { refresh, ...how })),
    store: (refresh, refreshed) => write('storeSummary', { refresh, refreshed }),
    countCall: (account, call) => write('countSummaryCall', { account, call }),
    forget: (lane) => write('forgetSummaries', { lane }),
  };
}

export function memoryStore({ read, write }: Access, newLaneId: () => LaneId): MemoryStore {
  return {
    apply: (turn, application) => write('apply', { turn, application }),
    write: (tenant, change) => write('write', { tenant, ...change }),
    laneOf: async (tenant, owner, now) => {
      const known = await read((sql) => findLane(sql, tenant, owner));
      return known?.id ?? write('openLaneId', { tenant, owner, now, newId: newLaneId() });
    },
    get: (tenant, id) => read((sql) => memories.getMemory(sql, tenant, id)),
    many: (tenant, ids) => read((sql) => memories.manyMemories(sql, tenant, ids)),
    unprojected: (lane) => read((sql) => memories.unprojectedMemories(sql, lane)),
    tombstones: (lane, textHashes) => read((sql) => memories.tombstonesOf(sql, lane, textHashes)),
    list: (...[tenant, scope, now, page]) => read((sql) => memories.listMemories(sql, { tenant, scope, now, page })),
    liveIds: (tenant, scope) => read((sql) => memories.liveIds(sql, tenant, scope)),
    every: (after, limit) => read((sql) => memories.everyMemory(sql, after, limit)),
    history: (tenant, id, page) => read((sql) => memories.historyOf(sql, { tenant, id, page })),
    sources: (tenant, id, around) => read((sql) => sourcesOf(sql, { tenant, id, ...around })),
    messages: (tenant, ids) => read((sql) => messagesById(sql, tenant, ids)),
  };
}

export function overviewStore({ read }: Access): OverviewStore {
  return {
    batches: (tenant) => read((sql) => overview.batchCounts(sql, tenant)),
    backlog: (tenant, atMost) => read((sql) => overview.backlog(sql, tenant, atMost)),
    memories: (tenant) => read((sql) => overview.memoryCounts(sql, tenant)),
    usage: (tenant) => read((sql) => overview.usageOfTenant(sql, tenant)),
    usageOfDay: (of, at) => read((sql) => overview.usageOfDay(sql, of, at)),
    usageOf: (consolidationId) => read((sql) => overview.usageOfConsolidation(sql, consolidationId)),
    owners: (tenant, page) => read((sql) => overview.listOwners(sql, tenant, page)),
    ownerCount: (tenant) => read((sql) => overview.ownerCount(sql, tenant)),
    outbox: () => read(outboxLength),
    oldestDue: (now) => read((sql) => oldestDue(sql, now)),
  };
}

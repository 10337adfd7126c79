import {
  type AuditStore,
  type Contradiction,
  type Memory,
  type OrphanKind,
  type Suspects,
  spaceIn,
} from '@slowwave/engine';
import { unprojectedIn } from './memory-ledger-speech.ts';
import type { BatchRow, LaneRow, State } from './memory-ledger-state.ts';
import { waitingOf } from './memory-ledger-turns.ts';

const EXAMPLES_MAX = 5;

export function memoryAudit(state: State): AuditStore {
  return {
    tenants: async () => [...new Set([...state.lanes.values()].map(({ tenant }) => tenant))].sort(),
    memories: async () => state.memories.size,
    sample: async (limit) => [...state.memories.values()].slice(0, limit).map(({ tenant, id }) => ({ tenant, id })),
    orphans: async (kind) => suspects(orphansOf(state)[kind]()),
    contradictions: async (kind) => suspects(contradictionsOf(state)[kind]()),
    overdue: async (before) =>
      suspects([...state.lanes.values()].filter(({ dueAt }) => dueAt !== null && dueAt < before).map(({ id }) => id)),
    parked: async () => {
      const parked = [...state.batches.values()].filter(
        (batch) => batch.state === 'parked' && spaceIn(batch.tenant) === null,
      );
      const key = (batch: BatchRow) => JSON.stringify([batch.tenant, batch.failure?.code ?? 'unknown']);
      return [...Map.groupBy(parked, key)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, batches]) => {
          const [first] = batches;
          if (first === undefined) return [];
          return [{ tenant: first.tenant, code: first.failure?.code ?? 'unknown', batches: batches.length }];
        });
    },
  };
}

const suspects = (ids: readonly string[]): Suspects => ({
  count: ids.length,
  examples: ids.toSorted().slice(0, EXAMPLES_MAX),
});

function orphansOf(state: State): Record<OrphanKind, () => string[]> {
  const { lanes, batches, messages, memories, events, tombstones, plans, consolidations, outbox } = state;
  const made = new Set(events.map(({ memoryId }) => memoryId));
  const all = [...memories.values()];
  return {
    'batch without lane': () => [...batches.values()].filter((one) => !lanes.has(one.lane)).map(({ id }) => id),
    'message without batch': () =>
      [...messages].filter(([, { message }]) => !batches.has(message.batchId)).map(([id]) => id),
    'memory without lane': () => all.filter(({ lane }) => !lanes.has(lane)).map(({ id }) => id),
    'memory without event': () => all.filter(({ id }) => !made.has(id)).map(({ id }) => id),
    'memory without version': () => all.filter(isForgotten).map(({ id }) => id),
    'version without memory': () => [],
    'event without memory': () => events.filter(({ memoryId }) => !memories.has(memoryId)).map(({ id }) => id),
    'tombstone without memory': () =>
      tombstones.map(({ tombstone }) => tombstone.memoryId).filter((id) => !memories.has(id)),
    'plan without consolidation': () => [...plans.keys()].filter((id) => !consolidations.has(id)),
    'outbox entry without memory': () =>
      [...outbox.values()].map(({ memoryId }) => memoryId).filter((id) => !memories.has(id)),
  };
}

function contradictionsOf(state: State): Record<Contradiction, () => string[]> {
  const open = [...state.batches.values()].filter((batch) => batch.state === 'consolidating');
  const unprojected = new Set(
    [...state.outbox.values(), ...unprojectedIn(state)].map(({ consolidationId }) => consolidationId),
  );
  return {
    // The waiting batches are counted anew whenever anybody asks.
    'lane that miscounts': () => [],
    'count that is wrong': () => [],
    'lane in a wrong state': () =>
      [...state.lanes.values()].filter((lane) => isWrong(lane, waitingOf(state, lane.id).length)).map(({ id }) => id),
    'batch in no window': () =>
      open
        .filter((one) => one.outcome === null && state.lanes.get(one.lane)?.consolidationId !== one.consolidationId)
        .map(({ id }) => id),
    'batch that never ends': () =>
      open.filter((one) => one.outcome !== null && !unprojected.has(one.consolidationId)).map(({ id }) => id),
    'statement that counts wrongly': () =>
      [...state.graph.statements.values()]
        .filter(({ statement: { consolidationId }, counts }) => {
          const consolidation = state.consolidations.get(consolidationId ?? '');
          return consolidation !== undefined && counts !== (consolidation.state === 'applied');
        })
        .map(({ statement }) => statement.id),
    // All of it is folded anew with every change.
    'relation that does not follow': () => [],
  };
}

function isWrong({ state, consolidationId }: LaneRow, waiting: number): boolean {
  if ((state === 'consolidating') !== (consolidationId !== null)) return true;
  return (state === 'idle' && waiting > 0) || (state === 'waiting' && waiting === 0);
}

/** What is undone as a whole has no version, but a mark that says so. */
const isForgotten = ({ versions, timeline }: Memory): boolean =>
  versions.length === 0 && !timeline.some(({ kind }) => kind === 'retracted');

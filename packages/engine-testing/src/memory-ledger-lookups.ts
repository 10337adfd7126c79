import type { LookupStore, Message, OwnedIds, Reach } from '@slowwave/engine';
import { type MessageRow, rowOf, type State } from './memory-ledger-state.ts';
import { findLane, isStanding } from './memory-ledger-turns.ts';

export function memoryLookups(state: State): LookupStore {
  return {
    histories: async (of, limit) => {
      const lane = findLane(state, of.tenant, of.owner);
      const own = of.ids.filter((id) => lane !== null && state.memories.get(id)?.lane === lane.id);
      return new Map(own.map((id) => [id, state.events.filter(({ memoryId }) => memoryId === id).slice(-limit)]));
    },
    scopes: async (tenant, messageIds) =>
      new Map(
        messageIds.flatMap((id) => {
          const row = state.messages.get(id);
          return row?.tenant === tenant && isStanding(state, row.lane) ? [[id, row.scope] as const] : [];
        }),
      ),
    /** What is undone is nobody's neighbour. */
    around: async (of, reach) => {
      const rows = rowsOf(state, of);
      const asked = rows.filter(({ message }) => of.ids.includes(message.id));
      const standing = rows.filter(({ message }) => rowOf(state.batches, message.batchId).state !== 'undone');
      return new Map(
        asked.map((row) => {
          const others = standing.filter(({ message }) => message.id !== row.message.id);
          return [row.message.id, near([...others, row].sort(inLaneOrder), row.message, reach)];
        }),
      );
    },
  };
}

function rowsOf(state: State, { tenant, owner }: OwnedIds) {
  const lane = findLane(state, tenant, owner);
  const rows = lane === null ? [] : state.messages.ofLane(lane.id);
  return rows.sort(inLaneOrder);
}

const inLaneOrder = (a: MessageRow, b: MessageRow): number => a.message.saidAt.seq - b.message.saidAt.seq;

function near(rows: readonly MessageRow[], { saidAt }: Message, { before, after, appId }: Reach): Message[] {
  return rows.flatMap(({ message, scope }) => {
    const distance = message.saidAt.seq - saidAt.seq;
    const isNear = distance >= -before && distance <= after;
    return isNear && (appId === null || scope.appId === appId) ? [message] : [];
  });
}

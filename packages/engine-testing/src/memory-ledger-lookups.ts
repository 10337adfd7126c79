import type { LookupStore, Message, OwnedIds, Reach } from '@slowwave/engine';
import type { State } from './memory-ledger-state.ts';
import { findLane } from './memory-ledger-turns.ts';

export function memoryLookups(state: State): LookupStore {
  return {
    histories: async (of, limit) => {
      const lane = findLane(state, of.tenant, of.owner);
      const own = of.ids.filter((id) => lane !== null && state.memories.get(id)?.lane === lane.id);
      return new Map(own.map((id) => [id, state.events.filter(({ memoryId }) => memoryId === id).slice(-limit)]));
    },
    around: async (of, reach) => {
      const rows = rowsOf(state, of);
      const asked = rows.filter(({ message }) => of.ids.includes(message.id));
      return new Map(asked.map(({ message }) => [message.id, near(rows, message, reach)]));
    },
  };
}

function rowsOf(state: State, { tenant, owner }: OwnedIds) {
  const lane = findLane(state, tenant, owner);
  const rows = [...state.messages.values()].filter((row) => lane !== null && row.lane === lane.id);
  return rows.sort((a, b) => a.message.saidAt.seq - b.message.saidAt.seq);
}

function near(rows: ReturnType<typeof rowsOf>, { saidAt }: Message, { before, after, appId }: Reach): Message[] {
  return rows.flatMap(({ message, scope }) => {
    const distance = message.saidAt.seq - saidAt.seq;
    const isNear = distance >= -before && distance <= after;
    return isNear && (appId === null || scope.appId === appId) ? [message] : [];
  });
}

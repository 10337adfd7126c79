import type { GraphStore, GraphTelling, LaneId } from '@slowwave/engine';
import { entityOf, isCutOff, isShown, relationOf } from './memory-ledger-graph-reads.ts';
import type { EntityRow, RelationRow } from './memory-ledger-graph-rows.ts';
import type { State } from './memory-ledger-state.ts';

type Tellings = Pick<GraphStore, 'untold' | 'untoldOf' | 'told' | 'refill' | 'every'>;

export function graphTellings(state: State): Tellings {
  return {
    untold: async (limit) => untold(state, (lane) => !isCutOff(state, lane) && !state.aside.has(lane)).slice(0, limit),
    untoldOf: async (lane, limit) => untold(state, (one) => one === lane && !isCutOff(state, one)).slice(0, limit),
    told: async (of) => {
      for (const { kind, id, revision } of of) {
        const row = tableOf(state, kind).get(id);
        if (row?.revision === revision) row.untoldAt = null;
      }
    },
    refill: async () => {
      const rows = [...counting(state, 'entity'), ...counting(state, 'relation')];
      // A new revision: what is told to the lost index meanwhile is told once more.
      for (const row of rows) Object.assign(row, { untoldAt: row.untoldAt ?? 0, revision: row.revision + 1 });
      return rows.length;
    },
    every: async (kind, after, limit) => {
      const rows = counting(state, kind).filter(({ id }) => after === null || id > after);
      const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      return sorted.map((row) => tellingOf(state, row));
    },
  };
}

/** All that the index is still to be told of, oldest change first. */
export const untoldOfGraph = (state: State): readonly GraphTelling[] => untold(state, (lane) => !isCutOff(state, lane));

const tableOf = (state: State, kind: GraphTelling['kind']): ReadonlyMap<string, EntityRow | RelationRow> =>
  kind === 'entity' ? state.graph.entities : state.graph.relations;

/** What counts and stands for itself, of owners that are not being erased. */
const counting = (state: State, kind: GraphTelling['kind']): (EntityRow | RelationRow)[] =>
  [...tableOf(state, kind).values()].filter(
    (row) => !isCutOff(state, row.lane) && ('mergedInto' in row ? isShown(row) : row.counts),
  );

function untold(state: State, isWanted: (lane: LaneId) => boolean): GraphTelling[] {
  const rows = [...state.graph.entities.values(), ...state.graph.relations.values()].filter(
    (row) => row.untoldAt !== null && isWanted(row.lane),
  );
  const sorted = rows.sort((a, b) => (a.untoldAt ?? 0) - (b.untoldAt ?? 0) || (a.id < b.id ? -1 : 1));
  return sorted.map((row) => tellingOf(state, row));
}

const tellingOf = (state: State, row: EntityRow | RelationRow): GraphTelling =>
  'mergedInto' in row
    ? { kind: 'entity', entity: entityOf(row) }
    : { kind: 'relation', relation: relationOf(state, row) };

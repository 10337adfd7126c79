import type { GraphItem, GraphStore, LaneId } from '@slowwave/engine';
import { entityOf, isCutOff, isShown, relationOf } from './memory-ledger-graph-reads.ts';
import type { EntityRow, RelationRow } from './memory-ledger-graph-rows.ts';
import type { State } from './memory-ledger-state.ts';

type Projecting = Pick<GraphStore, 'unprojected' | 'unprojectedOf' | 'projected' | 'refill' | 'every'>;

export function graphItems(state: State): Projecting {
  return {
    unprojected: async (limit) =>
      unprojected(state, (lane) => !isCutOff(state, lane) && !state.aside.has(lane)).slice(0, limit),
    unprojectedOf: async (lane, limit) =>
      unprojected(state, (one) => one === lane && !isCutOff(state, one)).slice(0, limit),
    projected: async (of) => {
      for (const { kind, id, revision } of of) {
        const row = tableOf(state, kind).get(id);
        if (row?.revision === revision) row.unprojectedAt = null;
      }
    },
    refill: async () => {
      const rows = [...counting(state, 'entity'), ...counting(state, 'relation')];
      // A new revision: what is projected to the lost index meanwhile is projected once more.
      for (const row of rows) Object.assign(row, { unprojectedAt: row.unprojectedAt ?? 0, revision: row.revision + 1 });
      return rows.length;
    },
    every: async (kind, after, limit) => {
      const rows = counting(state, kind).filter(({ id }) => after === null || id > after);
      const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      return sorted.map((row) => itemOf(state, row));
    },
  };
}

/** All that is still to be projected, oldest change first. */
export const unprojectedOfGraph = (state: State): readonly GraphItem[] =>
  unprojected(state, (lane) => !isCutOff(state, lane));

const tableOf = (state: State, kind: GraphItem['kind']): ReadonlyMap<string, EntityRow | RelationRow> =>
  kind === 'entity' ? state.graph.entities : state.graph.relations;

/** What counts and stands for itself, of owners that are not being erased. */
const counting = (state: State, kind: GraphItem['kind']): (EntityRow | RelationRow)[] =>
  [...tableOf(state, kind).values()].filter(
    (row) => !isCutOff(state, row.lane) && ('mergedInto' in row ? isShown(row) : row.counts),
  );

function unprojected(state: State, isWanted: (lane: LaneId) => boolean): GraphItem[] {
  const rows = [...state.graph.entities.values(), ...state.graph.relations.values()].filter(
    (row) => row.unprojectedAt !== null && isWanted(row.lane),
  );
  const sorted = rows.sort((a, b) => (a.unprojectedAt ?? 0) - (b.unprojectedAt ?? 0) || (a.id < b.id ? -1 : 1));
  return sorted.map((row) => itemOf(state, row));
}

const itemOf = (state: State, row: EntityRow | RelationRow): GraphItem =>
  'mergedInto' in row
    ? { kind: 'entity', entity: entityOf(row) }
    : { kind: 'relation', relation: relationOf(state, row) };

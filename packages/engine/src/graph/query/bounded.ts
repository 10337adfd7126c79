import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { LaneId, Millis } from '../../words.ts';
import type { KeptRelation } from '../words.ts';

/** Whose graph is asked, and of when. */
export interface GraphTime {
  readonly lane: LaneId;
  readonly at: Millis | null | 'ever';
}

/** Relations one step may bring, and all steps of one question together. */
const STEP_MAX = 1_000;
const ALL_MAX = 5_000;

export interface Looking {
  /** Relations around entities, as many as may still be read. */
  around(entities: readonly string[]): Promise<readonly KeptRelation[]>;
  /** Whether something was left out. */
  readonly truncated: () => boolean;
  readonly cut: () => void;
}

/** Looks around in a graph with an end to it: no question takes longer the more an owner has. */
export function looking(graph: Pick<GraphStore, 'around'>, { lane, at }: GraphTime): Looking {
  let left = ALL_MAX;
  let truncated = false;
  return {
    around: async (entities) => {
      const limit = Math.min(STEP_MAX, left);
      if (entities.length === 0) return [];
      if (limit === 0) {
        truncated = true;
        return [];
      }
      const found = await graph.around(lane, { entities, at, limit });
      left -= found.length;
      if (found.length === limit) truncated = true;
      return found;
    },
    truncated: () => truncated,
    cut: () => {
      truncated = true;
    },
  };
}

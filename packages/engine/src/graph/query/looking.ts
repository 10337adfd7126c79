import type { GraphStore } from '../../ports/ledger/graph.ts';
import type { LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { KeptRelation } from '../words.ts';

/** Whose graph is asked, and of when. */
export interface GraphAsked {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly lane: LaneId;
  readonly at: Millis | null | 'ever';
}

export interface Found {
  readonly relations: readonly KeptRelation[];
  /** false: there are more. */
  readonly whole: boolean;
}

/** Looks around in a graph, with an end to it: no question takes the longer the more an owner has. */
export interface Looking {
  around(entities: readonly string[]): Promise<Found>;
  /** With one relationship, or any: those that began first. */
  all(relationship: string | null): Promise<Found>;
  /** Notes that something was left out that may have mattered. */
  cut(): void;
  truncated(): boolean;
}

/** Relations that one look brings, and all looks of one question together. */
const LOOK_MAX = 1_000;
const ALL_MAX = 6_000;
const PAGE = 200;

export function looking(graph: Pick<GraphStore, 'around' | 'listRelations'>, asked: GraphAsked): Looking {
  const { tenant, owner, lane, at } = asked;
  let left = ALL_MAX;
  let truncated = false;
  const counted = (relations: readonly KeptRelation[], limit: number): Found => {
    left -= relations.length;
    return { relations, whole: relations.length < limit };
  };
  return {
    around: async (entities) => {
      const limit = Math.min(LOOK_MAX, left);
      if (entities.length === 0) return { relations: [], whole: true };
      if (limit <= 0) return { relations: [], whole: false };
      return counted(await graph.around(lane, { entities, at, limit }), limit);
    },
    all: async (relationship) => {
      const limit = Math.min(LOOK_MAX, left);
      const filter = { at, ...(relationship !== null && { relationship }) };
      const relations: KeptRelation[] = [];
      for (let cursor: string | null = null; relations.length < limit; ) {
        const page = await graph.listRelations(tenant, owner, filter, { limit: PAGE, cursor });
        relations.push(...page.results);
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      return counted(relations, limit);
    },
    cut: () => {
      truncated = true;
    },
    truncated: () => truncated,
  };
}

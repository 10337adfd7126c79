import type {
  Entity,
  Failure,
  FoldedRelation,
  GraphPlan,
  KeptRelation,
  LaneId,
  MergeProposal,
  Millis,
  Recorded,
  Statement,
  StudyState,
  TenantId,
} from '@slowwave/engine';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Since when what changed last is not projected; null: it is. */
interface Projected {
  unprojectedAt: Millis | null;
}

export interface EntityRow extends Mutable<Entity>, Projected {}

export interface RelationRow extends Mutable<FoldedRelation>, Projected, Pick<KeptRelation, 'tenant' | 'lane'> {}

interface StatementRow extends Recorded {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  statement: Statement;
  counts: boolean;
  fallen: boolean;
  /** Its quote, while the statement does not show it. */
  quoteSaid: string | null;
}

export interface StudyRow {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly consolidationId: string;
  state: StudyState;
  attempts: number;
  failure: Failure | null;
  plan: GraphPlan | null;
  notBefore: Millis;
  readonly requestedAt: Millis;
  appliedAt: Millis | null;
}

/** Who studies a lane. */
export interface GraphTurnRow {
  epoch: number;
  /** The consolidation that is studied. */
  held: string | null;
  heldUntil: Millis;
}

interface ProposalRow extends MergeProposal {
  readonly lane: LaneId;
  readonly consolidationId: string;
  readonly recordedAt: Millis;
}

export interface GraphRows {
  readonly entities: Map<string, EntityRow>;
  readonly statements: Map<string, StatementRow>;
  readonly relations: Map<string, RelationRow>;
  /** By consolidation, in the order of asking. */
  readonly studies: Map<string, StudyRow>;
  readonly turns: Map<LaneId, GraphTurnRow>;
  readonly proposals: ProposalRow[];
}

export const emptyGraph = (): GraphRows => ({
  entities: new Map(),
  statements: new Map(),
  relations: new Map(),
  studies: new Map(),
  turns: new Map(),
  proposals: [],
});

import {
  type GraphPlan,
  type GraphStore,
  type LaneId,
  type Millis,
  type StoredAnswer,
  type Study,
  type StudyClaim,
  type StudyView,
  spaceIn,
  type TenantId,
} from '@slowwave/engine';
import { keptBackUntil } from '@slowwave/engine/storing';
import type { GraphTurnRow, StudyRow } from './memory-ledger-graph-rows.ts';
import { writeGraph } from './memory-ledger-graph-writes.ts';
import { change, rowOf, type State } from './memory-ledger-state.ts';
import { settle } from './memory-ledger-usage.ts';

type Studies = Pick<
  GraphStore,
  'claim' | 'holds' | 'storeAnswer' | 'apply' | 'fail' | 'release' | 'due' | 'study' | 'request' | 'parked' | 'counts'
>;

export function graphStudies(state: State): Studies {
  return {
    claim: async (lane, how) => claim(state, lane, how),
    holds: async (study) => heldStudy(state, study) !== null,
    storeAnswer: async (study, answer, call = null) => {
      if (call !== null) settle(state, call);
      if (heldStudy(state, study) === null) return { kind: 'fenced' };
      storeAnswerOf(state, study, answer);
      return { kind: 'stored' };
    },
    apply: async (study, plan, now) => {
      const row = heldStudy(state, study);
      if (row === null) return { kind: 'fenced' };
      apply(state, { row, plan, now });
      return { kind: 'applied' };
    },
    fail: async (study, { failure, retryAt }) => {
      const row = heldStudy(state, study);
      if (row === null) return { kind: 'fenced' };
      change(row, { attempts: row.attempts + 1, failure });
      change(row, retryAt === null ? { state: 'parked' } : { notBefore: retryAt });
      free(state, row.lane);
      return { kind: 'noted' };
    },
    release: async (study, notBefore) => {
      const row = heldStudy(state, study);
      if (row === null) return;
      change(row, { notBefore });
      free(state, row.lane);
    },
    due: async (now, limit) => dueLanes(state, now).slice(0, limit),
    study: async (tenant, consolidationId) => {
      const row = state.graph.studies.get(consolidationId);
      return row?.tenant === tenant ? viewOf(row) : null;
    },
    request: async (tenant, consolidationId, now) => request(state, { tenant, consolidationId }, now),
    parked: async (tenant, limit) =>
      [...state.graph.studies.values()]
        .filter((row) => row.tenant === tenant && row.state === 'parked' && counts(state, row))
        .toReversed()
        .slice(0, limit)
        .map(({ consolidationId, attempts, failure, requestedAt }) => {
          const { scope } = rowOf(state.consolidations, consolidationId);
          return { consolidationId, scope, attempts, failure, requestedAt };
        }),
    counts: async () => ({
      pending: [...state.graph.studies.values()].filter((row) => waits(state, row) && isInLife(row)).length,
      parked: [...state.graph.studies.values()].filter((row) => row.state === 'parked' && isInLife(row)).length,
    }),
  };
}

/** The study that an applied consolidation asked for. */
export function openStudy(state: State, of: { tenant: TenantId; lane: LaneId; id: string }, now: Millis): void {
  const { tenant, lane, id: consolidationId } = of;
  const fresh = { state: 'pending', attempts: 0, failure: null, plan: null, appliedAt: null } as const;
  const row = { tenant, lane, consolidationId, ...fresh, notBefore: now, requestedAt: now };
  state.graph.studies.set(consolidationId, row);
}

const turnOf = (state: State, lane: LaneId): GraphTurnRow =>
  state.graph.turns.get(lane) ?? { epoch: 0, held: null, heldUntil: 0 };

const free = (state: State, lane: LaneId): void => change(turnOf(state, lane), { held: null, heldUntil: 0 });

/** Figures leave shadow spaces out. */
const isInLife = ({ tenant }: StudyRow): boolean => spaceIn(tenant) === null;

/** Whether it waits to be made: not while its consolidation is undone. */
const waits = (state: State, row: StudyRow): boolean => row.state === 'pending' && counts(state, row);

const counts = (state: State, { lane, consolidationId }: StudyRow): boolean =>
  state.lanes.get(lane)?.erasure === null && state.consolidations.get(consolidationId)?.state === 'applied';

const waitingOf = (state: State, lane: LaneId): StudyRow[] =>
  [...state.graph.studies.values()].filter((row) => row.lane === lane && waits(state, row));

/** The study's row, or null when a later claim has taken its lane. */
function heldStudy(state: State, { lane, consolidationId, epoch }: Study): StudyRow | null {
  const turn = turnOf(state, lane);
  const row = waitingOf(state, lane).find((one) => one.consolidationId === consolidationId) ?? null;
  return turn.epoch === epoch && turn.held === consolidationId ? row : null;
}

function claim(state: State, laneId: LaneId, { now, holdMs }: { now: Millis; holdMs: number }): StudyClaim {
  const lane = state.lanes.get(laneId);
  const [first] = waitingOf(state, laneId);
  if (lane === undefined || first === undefined) return { kind: 'none' };
  const keptBack = keptBackUntil(lane.leavingUntil, now);
  if (keptBack > now) return { kind: 'later', at: keptBack };
  const { held, heldUntil, epoch } = turnOf(state, laneId);
  if (held !== null && heldUntil > now) return { kind: 'later', at: heldUntil };
  if (first.notBefore > now) return { kind: 'later', at: first.notBefore };
  const { consolidationId, attempts } = first;
  state.graph.turns.set(laneId, { epoch: epoch + 1, held: consolidationId, heldUntil: now + holdMs });
  const { tenant, owner } = lane;
  const { scope } = rowOf(state.consolidations, consolidationId);
  return {
    kind: 'claimed',
    study: { tenant, lane: laneId, owner, scope, consolidationId, epoch: epoch + 1, attempts },
  };
}

/** Keeps an answer among those of a consolidation whose turn is over, once. */
export function storeAnswerOf(
  state: State,
  { consolidationId }: Pick<Study, 'consolidationId'>,
  answer: StoredAnswer,
): void {
  const { step, inputHash } = answer;
  const known = state.answers.get(consolidationId) ?? [];
  if (known.some((one) => one.step === step && one.inputHash === inputHash)) return;
  state.answers.set(consolidationId, [...known, answer]);
}

function apply(state: State, { row, plan, now }: { row: StudyRow; plan: GraphPlan; now: Millis }): void {
  const { lane, consolidationId } = row;
  writeGraph(state, lane, { entities: plan.entities, statements: plan.statements, now });
  const proposed = plan.proposals.map((proposal) => ({ ...proposal, lane, consolidationId, recordedAt: now }));
  state.graph.proposals.push(...proposed);
  change(row, { state: 'applied', plan, appliedAt: now, failure: null });
  free(state, lane);
}

/** By their first study, which must be due: the others wait for it. */
function dueLanes(state: State, now: Millis): readonly LaneId[] {
  const firsts = new Map<LaneId, StudyRow>();
  for (const row of state.graph.studies.values()) {
    if (waits(state, row) && !firsts.has(row.lane)) firsts.set(row.lane, row);
  }
  const isFree = (lane: LaneId): boolean => turnOf(state, lane).heldUntil <= now;
  return [...firsts.values()].filter((row) => row.notBefore <= now && isFree(row.lane)).map(({ lane }) => lane);
}

function request(
  state: State,
  { tenant, consolidationId }: { tenant: TenantId; consolidationId: string },
  now: Millis,
): LaneId | null {
  const consolidation = state.consolidations.get(consolidationId);
  if (consolidation?.tenant !== tenant || consolidation.state !== 'applied') return null;
  const { lane } = consolidation;
  if (state.lanes.get(lane)?.erasure !== null) return null;
  const known = state.graph.studies.get(consolidationId);
  if (known !== undefined && known.state !== 'parked') return null;
  if (known === undefined) openStudy(state, { tenant, lane, id: consolidationId }, now);
  else change(known, { state: 'pending', attempts: 0, notBefore: now });
  return lane;
}

const viewOf = ({ tenant: _, lane: __, notBefore: ___, ...view }: StudyRow): StudyView => view;

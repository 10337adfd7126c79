import type {
  GraphStore,
  LaneId,
  MergeProposal,
  Millis,
  ParkedStudy,
  Study,
  StudyState,
  TenantId,
} from '@slowwave/engine';
import { ofNoSpace } from '@slowwave/engine/storing';
import { standAgain } from '../forgetting.ts';
import { foldThoughts } from '../kept-thoughts.ts';
import { laneIdOf } from '../page.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from '../rows/columns.ts';
import {
  allAs,
  counted,
  few,
  first,
  inOne,
  insert,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  together,
  write,
} from '../script.ts';
import { keeping } from '../thoughts.ts';
import { lockLane } from '../turn.ts';
import { settle } from '../usage.ts';
import { changeGraph } from './changes.ts';

export type StudyStore = Pick<
  GraphStore,
  'claim' | 'holds' | 'storeAnswer' | 'apply' | 'fail' | 'release' | 'due' | 'study' | 'request' | 'parked' | 'counts'
>;

export const studyStore = storeOf<StudyStore>('graph', {
  /** Whatever changes a study holds the lock of its lane. */
  claim: write(function* (lane, { now, holdMs }) {
    const row = yield* lockLane(lane);
    const next = yield* first<NextRow>(SELECT_NEXT, { lane });
    if (row === null || next === null) return { kind: 'none' };
    if (row.leaving_until > now) return { kind: 'later', at: row.leaving_until };
    const turn = yield* first<TurnRow>('SELECT * FROM graph_turns WHERE lane = @lane', { lane });
    if (turn !== null && turn.held !== null && turn.held_until > now) return { kind: 'later', at: turn.held_until };
    if (next.not_before > now) return { kind: 'later', at: next.not_before };
    const { tenant, consolidation_id: consolidationId, attempts } = next;
    const epoch = (turn?.epoch ?? 0) + 1;
    yield* run(HOLD, { lane, epoch, held: consolidationId, until: now + holdMs });
    const [owner, scope] = [ownerFrom(next), scopeFrom(next)];
    return { kind: 'claimed', study: { tenant, lane, owner, scope, consolidationId, epoch, attempts } };
  }),
  holds: lookup(holdsStudy),
  /** Keeps the answer of a study among those of its consolidation. */
  storeAnswer: write(function* (study, answer, call = null) {
    if (!(yield* keepsStudy(study))) {
      if (call !== null) yield* settle(call);
      return { kind: 'fenced' };
    }
    yield* inOne(...keeping(study, answer, call));
    return { kind: 'stored' };
  }),
  apply: write(function* (study, plan, now) {
    if (!(yield* keepsStudy(study))) return { kind: 'fenced' };
    const { tenant, lane, consolidationId } = study;
    yield* changeGraph({ tenant, lane, now }, plan);
    yield* standAgain({ tenant, lane, now }, [consolidationId]);
    yield* insert(
      'graph_proposals',
      uniquePairs(plan.proposals).map((one) => ({
        lane,
        source: one.source,
        destination: one.destination,
        likeness: one.likeness,
        consolidation_id: consolidationId,
        recorded_at: now,
      })),
    );
    yield* together(run(END_STUDY, { consolidationId, now, plan: JSON.stringify(plan) }), run(FREE, { lane }));
    yield* foldThoughts([consolidationId]);
    return { kind: 'applied' };
  }),
  fail: write(function* (study, { failure, retryAt }) {
    if (!(yield* keepsStudy(study))) return { kind: 'fenced' };
    const state: StudyState = retryAt === null ? 'parked' : 'pending';
    const { consolidationId, lane } = study;
    const columns = { state, failure: JSON.stringify(failure), retryAt: retryAt ?? failure.at };
    yield* together(run(FAIL_STUDY, { consolidationId, ...columns }), run(FREE, { lane }));
    return { kind: 'noted' };
  }),
  release: write(function* (study, notBefore) {
    if (!(yield* keepsStudy(study))) return;
    const { consolidationId, lane } = study;
    const putOff = 'UPDATE graph_studies SET not_before = @notBefore WHERE consolidation_id = @consolidationId';
    yield* together(run(putOff, { consolidationId, notBefore }), run(FREE, { lane }));
  }),
  /** By their first study, which must be due: the others wait for it. */
  due: few((now, limit) => allAs(({ lane }: { lane: LaneId }) => lane, SELECT_DUE, { now, limit })),
  study: read(function* (tenant, consolidationId) {
    const row = yield* first<StudyRow>(SELECT_STUDY, { tenant, id: consolidationId });
    if (row === null) return null;
    const { state, attempts, failure, plan, requested_at: requestedAt, applied_at: appliedAt } = row;
    return { consolidationId, state, attempts, failure: parsed(failure), plan: parsed(plan), requestedAt, appliedAt };
  }),
  request: write(function* (tenant, id, now) {
    const text = `SELECT ${laneIdOf('lane')} AS lane FROM consolidations WHERE tenant = @tenant AND id = @id`;
    const asked = yield* first<{ lane: LaneId }>(text, { tenant, id });
    if (asked === null) return null;
    yield* lockLane(asked.lane);
    const found = yield* first<{ lane: LaneId; state: StudyState | null }>(SELECT_REQUESTED, { tenant, id });
    if (found === null || (found.state !== null && found.state !== 'parked')) return null;
    if (found.state === null) yield* openStudy({ tenant, lane: found.lane, id, now });
    else yield* run(REOPEN_STUDY, { id, now });
    return found.lane;
  }),
  parked: read((tenant, limit) => allAs(parkedFrom, SELECT_PARKED, { tenant, limit })),
  counts: read(function* () {
    const [pending, parked] = yield* together(counted(COUNT_WAITING), counted(COUNT_PARKED));
    return { pending, parked };
  }),
});

/** The study that an applied consolidation asks for. */
export function* openStudy(of: { tenant: TenantId; lane: LaneId; id: string; now: Millis }): Script<void> {
  yield* run(INSERT_STUDY, of);
}

/** Whether a study still has its lane: nobody claimed it since, and its consolidation counts. */
function* holdsStudy({ lane, consolidationId, epoch }: Study): Script<boolean> {
  return (yield* first(SELECT_HELD, { lane, consolidationId, epoch })) !== null;
}

/** The same, and nobody claims it before the transaction ends. */
function* keepsStudy(study: Study): Script<boolean> {
  yield* lockLane(study.lane);
  return yield* holdsStudy(study);
}

const parsed = <T>(json: string | null): T | null => (json === null ? null : JSON.parse(json));

const uniquePairs = (proposals: readonly MergeProposal[]): readonly MergeProposal[] => [
  ...new Map(proposals.map((one) => [JSON.stringify([one.source, one.destination]), one])).values(),
];

interface NextRow extends OwnerColumns, ScopeColumns {
  readonly tenant: TenantId;
  readonly consolidation_id: string;
  readonly attempts: number;
  readonly not_before: number;
}

interface ParkedRow extends ScopeColumns, Pick<StudyRow, 'attempts' | 'failure' | 'requested_at'> {
  readonly consolidation_id: string;
}

const parkedFrom = (row: ParkedRow): ParkedStudy => ({
  consolidationId: row.consolidation_id,
  scope: scopeFrom(row),
  attempts: row.attempts,
  failure: parsed(row.failure),
  requestedAt: row.requested_at,
});

interface TurnRow {
  readonly epoch: number;
  readonly held: string | null;
  readonly held_until: number;
}

interface StudyRow {
  readonly state: StudyState;
  readonly attempts: number;
  readonly failure: string | null;
  readonly plan: string | null;
  readonly requested_at: number;
  readonly applied_at: number | null;
}

/** Studies that wait to be made: not while their consolidation is undone. */
const waiting = (indexed = ''): string => `
  graph_studies s${indexed} JOIN consolidations c ON c.id = s.consolidation_id AND c.state = 'applied'
  JOIN lanes l ON l.id = s.lane AND l.erasure IS NULL`;

const INSERT_STUDY = `
  INSERT INTO graph_studies (consolidation_id, tenant, lane, state, attempts, not_before, requested_at)
  VALUES (@id, @tenant, @lane, 'pending', 0, @now, @now) ON CONFLICT (consolidation_id) DO NOTHING`;

const SELECT_NEXT = `
  SELECT s.tenant, s.consolidation_id, s.attempts, s.not_before, l.owner_kind, l.owner_id,
    o.user_id, o.agent_id, o.run_id, o.app_id
  FROM ${waiting()} JOIN scopes o ON o.id = c.scope
  WHERE s.lane = @lane AND s.state = 'pending' ORDER BY s.seq LIMIT 1`;

const SELECT_HELD = `
  SELECT 1 AS found FROM ${waiting()} JOIN graph_turns t ON t.lane = s.lane
  WHERE s.consolidation_id = @consolidationId AND s.lane = @lane AND s.state = 'pending'
    AND t.epoch = @epoch AND t.held = s.consolidation_id`;

const HOLD = `
  INSERT INTO graph_turns (lane, epoch, held, held_until) VALUES (@lane, @epoch, @held, @until)
  ON CONFLICT (lane) DO UPDATE SET epoch = excluded.epoch, held = excluded.held, held_until = excluded.held_until`;

const FREE = 'UPDATE graph_turns SET held = NULL, held_until = 0 WHERE lane = @lane';

const END_STUDY = `
  UPDATE graph_studies SET state = 'applied', plan = @plan, failure = NULL, applied_at = @now
  WHERE consolidation_id = @consolidationId`;

const FAIL_STUDY = `
  UPDATE graph_studies SET state = @state, attempts = attempts + 1, failure = @failure, not_before = @retryAt
  WHERE consolidation_id = @consolidationId`;

const SELECT_REQUESTED = `
  SELECT l.id AS lane, s.state FROM consolidations c JOIN lanes l ON l.number = c.lane AND l.erasure IS NULL
  LEFT JOIN graph_studies s ON s.consolidation_id = c.id
  WHERE c.id = @id AND l.tenant = @tenant AND c.state = 'applied'`;

const REOPEN_STUDY = `
  UPDATE graph_studies SET state = 'pending', attempts = 0, not_before = @now WHERE consolidation_id = @id`;

const SELECT_DUE = `
  SELECT s.lane FROM ${waiting(' INDEXED BY graph_studies_next')} LEFT JOIN graph_turns t ON t.lane = s.lane
  WHERE s.state = 'pending' AND s.not_before <= @now AND coalesce(t.held_until, 0) <= @now
    AND NOT EXISTS (
      SELECT 1 FROM graph_studies e JOIN consolidations d ON d.id = e.consolidation_id AND d.state = 'applied'
      WHERE e.lane = s.lane AND e.state = 'pending' AND e.seq < s.seq)
  ORDER BY s.seq LIMIT @limit`;

const SELECT_STUDY = 'SELECT * FROM graph_studies WHERE tenant = @tenant AND consolidation_id = @id';

const SELECT_PARKED = `
  SELECT s.consolidation_id, s.attempts, s.failure, s.requested_at, o.user_id, o.agent_id, o.run_id, o.app_id
  FROM ${waiting()} JOIN scopes o ON o.id = c.scope
  WHERE s.tenant = @tenant AND s.state = 'parked' ORDER BY s.seq DESC LIMIT @limit`;

const COUNT_WAITING = `SELECT count(*) AS count FROM ${waiting()} WHERE s.state = 'pending' AND ${ofNoSpace('s.tenant')}`;
const COUNT_PARKED = `
  SELECT count(*) AS count FROM graph_studies WHERE state = 'parked' AND ${ofNoSpace('tenant')}`;

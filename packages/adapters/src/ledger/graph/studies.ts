import type {
  GraphChange,
  GraphStore,
  LaneId,
  MergeProposal,
  Millis,
  ParkedStudy,
  Statement,
  StudyState,
  TenantId,
  Undo,
  Undoing,
} from '@slowwave/engine';
import {
  endsOf,
  keptBackUntil,
  normaliseText,
  ofNoSpace,
  requireKnownEnds,
  takenBackBy,
  withOneSelf,
} from '@slowwave/engine/storing';
import { standAgain } from '../forgetting.ts';
import { holding } from '../held.ts';
import { foldThoughts } from '../kept-thoughts.ts';
import { laneIdOf } from '../page.ts';
import { type OwnerColumns, ownerFrom, type ScopeColumns, scopeFrom } from '../rows/columns.ts';
import {
  all,
  allAs,
  counted,
  few,
  first,
  idsOf,
  insert,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  together,
  write,
} from '../script.ts';
import { lockLane } from '../turn.ts';
import { type Folding, refold } from './refold.ts';
import { SELECT_SELF, type StatementRow, statementFrom } from './rows.ts';

export type StudyStore = Pick<
  GraphStore,
  'claim' | 'holds' | 'storeAnswer' | 'apply' | 'fail' | 'release' | 'due' | 'study' | 'request' | 'parked' | 'counts'
>;

/** Studies that wait to be made: not while their consolidation is undone. */
const waiting = (indexed = ''): string => `
  graph_studies s${indexed} JOIN consolidations c ON c.id = s.consolidation_id AND c.state = 'applied'
  JOIN lanes l ON l.id = s.lane AND l.erasure IS NULL`;

const studying = holding(
  'graph_turns',
  `SELECT 1 AS found FROM ${waiting()} JOIN graph_turns t ON t.lane = s.lane
  WHERE s.consolidation_id = @consolidationId AND s.lane = @lane AND s.state = 'pending'
    AND t.epoch = @epoch AND t.held = s.consolidation_id`,
);

export const studyStore = storeOf<StudyStore>('graph', {
  claim: write(function* (lane, { now, holdMs }) {
    const row = yield* lockLane(lane);
    const next = yield* first<NextRow>(SELECT_NEXT, { lane });
    if (row === null || next === null) return { kind: 'none' };
    const keptBack = keptBackUntil(row.leaving_until, now);
    if (keptBack > now) return { kind: 'later', at: keptBack };
    const turn = yield* first<TurnRow>('SELECT * FROM graph_turns WHERE lane = @lane', { lane });
    if (turn !== null && turn.held !== null && turn.held_until > now) return { kind: 'later', at: turn.held_until };
    if (next.not_before > now) return { kind: 'later', at: next.not_before };
    const { tenant, consolidation_id: consolidationId, attempts } = next;
    const epoch = yield* studying.hold(lane, { held: consolidationId, until: now + holdMs }, turn);
    const [owner, scope] = [ownerFrom(next), scopeFrom(next)];
    return { kind: 'claimed', study: { tenant, lane, owner, scope, consolidationId, epoch, attempts } };
  }),
  holds: lookup(studying.holds),
  storeAnswer: write(studying.storeAnswer),
  apply: write(function* (study, plan, now) {
    if (!(yield* studying.keeps(study))) return { kind: 'fenced' };
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
    if (!(yield* studying.keeps(study))) return { kind: 'fenced' };
    const state: StudyState = retryAt === null ? 'parked' : 'pending';
    const { consolidationId, lane } = study;
    const columns = { state, failure: JSON.stringify(failure), retryAt: retryAt ?? failure.at };
    yield* together(run(FAIL_STUDY, { consolidationId, ...columns }), run(FREE, { lane }));
    return { kind: 'noted' };
  }),
  release: write(function* (study, notBefore) {
    if (!(yield* studying.keeps(study))) return;
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

const INSERT_STUDY = `
  INSERT INTO graph_studies (consolidation_id, tenant, lane, state, attempts, not_before, requested_at)
  VALUES (@id, @tenant, @lane, 'pending', 0, @now, @now) ON CONFLICT (consolidation_id) DO NOTHING`;

const SELECT_NEXT = `
  SELECT s.tenant, s.consolidation_id, s.attempts, s.not_before, l.owner_kind, l.owner_id,
    o.user_id, o.agent_id, o.run_id, o.app_id
  FROM ${waiting()} JOIN scopes o ON o.id = c.scope
  WHERE s.lane = @lane AND s.state = 'pending' ORDER BY s.seq LIMIT 1`;

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

/** Explicit statements of a lane that stands. */
export function* writeGraph(
  tenant: TenantId,
  lane: LaneId,
  change: GraphChange,
): Script<{ kind: 'written' | 'conflict' }> {
  const locked = yield* lockLane(lane);
  if (locked === null || locked.tenant !== tenant || locked.erasure !== null) return { kind: 'conflict' };
  yield* changeGraph({ tenant, lane, now: change.now }, change);
  return { kind: 'written' };
}

/** Entities and statements that are not there yet, and all that follows. The caller holds the lock of the lane. */
function* changeGraph(folding: Folding, change: Omit<GraphChange, 'now'>): Script<void> {
  const { lane } = folding;
  const self = (yield* first<{ id: string }>(SELECT_SELF, { lane }))?.id ?? null;
  const { entities, statements } = withOneSelf(change, self);
  const ends = new Set(statements.flatMap(endsOf));
  const known = yield* idsOf(SELECT_KNOWN, { lane, ids: [...ends] });
  requireKnownEnds(statements, new Set([...known, ...entities.map(({ id }) => id)]));
  const newEntities: string[] = [];
  for (const entity of entities) {
    const columns = { ...entity, ...folding, nameKey: normaliseText(entity.name), self: entity.self ? 1 : 0 };
    if ((yield* run(INSERT_ENTITY, columns)) > 0) newEntities.push(entity.id);
  }
  const fresh = yield* insertStatements(folding, statements);
  yield* refold(folding, { statements: fresh, entities: newEntities });
}

/** Answers with those that were not there. */
function* insertStatements({ tenant, lane }: Folding, statements: readonly Statement[]): Script<readonly Statement[]> {
  const ids = statements.map(({ id }) => id);
  const known = new Set(yield* idsOf(SELECT_STATEMENTS, { ids }));
  const fresh = statements.filter(({ id }) => !known.has(id));
  const undosBefore = (yield* first<{ number: number | null }>(SELECT_UNDOS, { lane }))?.number ?? 0;
  yield* insert(
    'graph_statements',
    fresh.map((one) => ({ ...columnsOf(one), tenant, lane, undos_before: undosBefore })),
  );
  return fresh;
}

const columnsOf = (statement: Statement) => ({
  id: statement.id,
  kind: statement.kind,
  source: statement.source,
  relationship: 'relationship' in statement ? statement.relationship : null,
  destination: 'destination' in statement ? statement.destination : null,
  single: statement.kind === 'holds' && statement.single ? 1 : 0,
  recorded_at: statement.recordedAt,
  consolidation_id: statement.consolidationId,
  counts: 1,
  fallen: 0,
  statement: JSON.stringify(statement),
});

/** What an undo takes back counts no longer, and what it brings back counts again. `undos`: all of the lane, with this one. */
export function* retakeGraph(
  tenant: TenantId,
  { undo, undone, redone }: Undoing,
  undos: readonly Undo[],
): Script<void> {
  const { lane, at: now } = undo;
  const rows = yield* all<RetakenRow>(SELECT_OF_CONSOLIDATIONS, { lane, ids: [...undone, ...redone] });
  const gone = new Set(undone);
  const wanted = rows.map((row) => ({ row, counts: gone.has(row.consolidation_id ?? '') || row.fallen === 1 ? 0 : 1 }));
  // Explicit ones go with rollbacks, and come back with what takes those back.
  const explicit =
    undo.kind === 'undo' || undo.kind === 'withdrawal' ? [] : yield* all<RetakenRow>(SELECT_EXPLICIT, { lane });
  const isTakenBack = takenBackBy(undos);
  const written = explicit.map((row) => ({ row, counts: isTakenBack(recorded(row)) ? 0 : 1 }));
  const changed = [...wanted, ...written].filter(({ row, counts }) => row.counts !== counts);
  for (const counts of [0, 1]) {
    const ids = changed.filter((one) => one.counts === counts).map(({ row }) => row.id);
    if (ids.length > 0) yield* run(SET_COUNTS, { ids, counts });
  }
  yield* run(FREE_UNDONE, { lane, ids: undone });
  const statements = changed.map(({ row }) => statementFrom(row));
  yield* refold({ tenant, lane, now }, { statements, entities: [] });
}

interface RetakenRow extends StatementRow {
  readonly consolidation_id: string | null;
  readonly recorded_at: number;
  readonly undos_before: number;
  readonly fallen: 0 | 1;
}

const recorded = ({ recorded_at: recordedAt, undos_before: undosBefore }: RetakenRow) => ({ recordedAt, undosBefore });

const SELECT_KNOWN = 'SELECT id FROM graph_entities WHERE lane = @lane AND id IN :ids';
const SELECT_STATEMENTS = 'SELECT id FROM graph_statements WHERE id IN :ids';
const SELECT_UNDOS = 'SELECT max(number) AS number FROM undos WHERE lane = @lane';

const INSERT_ENTITY = `
  INSERT INTO graph_entities (
    id, tenant, lane, name, name_key, kind, self, aliases, merged_into, counts, revision, created_at, unprojected_at
  ) VALUES (@id, @tenant, @lane, @name, @nameKey, @kind, @self, '[]', NULL, 0, 0, @now, @now)
  ON CONFLICT (id) DO NOTHING`;

const RETAKEN = 'id, statement, counts, fallen, consolidation_id, recorded_at, undos_before';

const SELECT_OF_CONSOLIDATIONS = `
  SELECT ${RETAKEN} FROM graph_statements WHERE lane = @lane AND consolidation_id IN :ids`;

const SELECT_EXPLICIT = `
  SELECT ${RETAKEN} FROM graph_statements WHERE lane = @lane AND consolidation_id IS NULL`;

const SET_COUNTS = 'UPDATE graph_statements SET counts = @counts WHERE id IN :ids';

/** Whoever studies what is undone is fenced. */
const FREE_UNDONE = `
  UPDATE graph_turns SET epoch = epoch + 1, held = NULL, held_until = 0 WHERE lane = @lane AND held IN :ids`;

import type { GraphChange, LaneId, Statement, TenantId, Undo, Undoing } from '@slowwave/engine';
import { endsOf, normaliseText, requireKnownEnds, takenBackBy, withOneSelf } from '@slowwave/engine/storing';
import { all, first, idsOf, insert, run, type Script } from '../script.ts';
import { lockLane } from '../turn.ts';
import { type Folding, refold } from './refold.ts';
import { type StatementRow, statementFrom } from './rows.ts';

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
export function* changeGraph(folding: Folding, change: Omit<GraphChange, 'now'>): Script<void> {
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
    if (ids.length > 0) yield* run(COUNT, { ids, counts });
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

const SELECT_SELF = 'SELECT id FROM graph_entities WHERE lane = @lane AND self = 1';
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

const COUNT = 'UPDATE graph_statements SET counts = @counts WHERE id IN :ids';

/** Whoever studies what is undone is fenced. */
const FREE_UNDONE = `
  UPDATE graph_turns SET epoch = epoch + 1, held = NULL, held_until = 0 WHERE lane = @lane AND held IN :ids`;

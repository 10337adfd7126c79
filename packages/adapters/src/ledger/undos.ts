import type {
  LaneId,
  MemoryEvent,
  Millis,
  Page,
  Paged,
  TenantId,
  Touched,
  Undo,
  Undoing,
  Undone,
  UndoStore,
} from '@slowwave/engine';
import { UNDONE_NOTE } from '@slowwave/engine/storing';
import { type Access, asRead, asWrite } from './access.ts';
import { conflicts, writeChanges } from './changes.ts';
import { pageOf } from './cursor.ts';
import { retakeGraph } from './graph/changes.ts';
import { isStanding, laneOfUser, newestFirst, where } from './page.ts';
import { type EventRow, eventFrom } from './rows/event.ts';
import { type OwnerColumns, ownerFrom } from './rows/scope.ts';
import { all, first, run, type Script, together } from './script.ts';
import { REVISE } from './speech.ts';
import { forgetSummaries } from './summaries.ts';
import { lockLane, requireLane } from './turn.ts';

export const undoStore = ({ read, write }: Access): UndoStore => ({
  get: (tenant, id) => read(getUndo, { tenant, id }),
  list: (tenant, { userId }, page) => read(listUndos, { tenant, userId: userId ?? null, page }),
  ofLane: (lane) => read(undosOfLane, { lane }),
  touched: (tenant, by) => read(touchedMemories, { tenant, by }),
  events: (tenant, memoryIds) => read(eventsOf, { tenant, memoryIds }),
  appliedAfter: (lane, after) => read(appliedAfter, { lane, after }),
  write: (tenant, undoing) => write(writeUndo, { tenant, undoing }),
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

const getUndo = asRead('undos.get', function* (of: OneOf): Script<Undo | null> {
  const text = `${SELECT_UNDOS} WHERE u.tenant = @tenant AND u.id = @id AND ${isStanding('u.lane')}`;
  const row = yield* first<UndoRow>(text, { ...of });
  return row === null ? null : undoFrom(row);
});

interface List {
  readonly tenant: TenantId;
  readonly userId: string | null;
  readonly page: Page;
}

const listUndos = asRead('undos.list', function* ({ tenant, userId, page }: List): Script<Paged<Undo>> {
  const newest = newestFirst(page, 'u.at', 'u.id');
  const conditions = where([
    'u.tenant = @tenant',
    isStanding('u.lane'),
    userId === null ? null : laneOfUser('u.lane'),
    newest.condition,
  ]);
  const given = { tenant, userId, ...newest.params };
  const rows = yield* all<UndoRow>(`${SELECT_UNDOS} ${conditions} ${newest.order}`, given);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.at, row.id]);
  return { results: results.map(undoFrom), nextCursor };
});

const undosOfLane = asRead('undos.ofLane', loadUndos);

/** Oldest first. */
function* loadUndos({ lane }: { lane: LaneId }): Script<readonly Undo[]> {
  return (yield* all<UndoRow>(`${SELECT_UNDOS} WHERE u.lane = @lane ORDER BY u.number`, { lane })).map(undoFrom);
}

const SELECT_UNDOS = `
  SELECT u.*, l.owner_kind, l.owner_id FROM undos u JOIN lanes l ON l.id = u.lane`;

interface UndoRow extends OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly number: number;
  readonly kind: Undo['kind'];
  readonly leads_to: number | null;
  readonly consolidations: string;
  readonly undos: string;
  readonly memories: number;
  readonly at: number;
}

const undoFrom = (row: UndoRow): Undo => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  number: row.number,
  kind: row.kind,
  to: row.leads_to,
  consolidations: JSON.parse(row.consolidations),
  undos: JSON.parse(row.undos),
  memories: row.memories,
  at: row.at,
});

interface TouchedBy {
  readonly tenant: TenantId;
  readonly by: Touched;
}

const touchedMemories = asRead('undos.touched', function* ({ tenant, by }: TouchedBy): Script<readonly string[]> {
  return (yield* touching(tenant, by)).map((row) => row.memory_id);
});

function touching(tenant: TenantId, by: Touched): Script<readonly { memory_id: string }[]> {
  if ('consolidations' in by) return all(BY_CONSOLIDATIONS, { tenant, ids: by.consolidations });
  if ('undo' in by) return all(BY_UNDO, { tenant, undo: by.undo });
  return all(BY_TIME, { tenant, lane: by.lane, after: by.after });
}

const BY_CONSOLIDATIONS = 'SELECT DISTINCT memory_id FROM events WHERE tenant = @tenant AND consolidation_id IN :ids';

const BY_UNDO = 'SELECT DISTINCT memory_id FROM events WHERE tenant = @tenant AND undo_id = @undo';

const BY_TIME = `
  SELECT DISTINCT e.memory_id FROM memories m JOIN events e ON e.memory_id = m.id
  WHERE m.tenant = @tenant AND m.lane = @lane AND e.recorded_at > @after`;

interface EventsOf {
  readonly tenant: TenantId;
  readonly memoryIds: readonly string[];
}

const eventsOf = asRead('undos.events', function* (of: EventsOf): Script<readonly MemoryEvent[]> {
  const text = `
    SELECT * FROM events WHERE tenant = @tenant AND memory_id IN :memoryIds ORDER BY memory_id, revision`;
  return (yield* all<EventRow>(text, { ...of })).map(eventFrom);
});

interface AppliedAfter {
  readonly lane: LaneId;
  readonly after: Millis;
}

const appliedAfter = asRead('undos.appliedAfter', function* (of: AppliedAfter): Script<readonly string[]> {
  const text = 'SELECT id FROM consolidations WHERE lane = @lane AND applied_at > @after ORDER BY applied_at, id';
  return (yield* all<{ id: string }>(text, { ...of })).map((row) => row.id);
});

interface WriteUndo {
  readonly tenant: TenantId;
  readonly undoing: Undoing;
}

/** Takes back what an undo says: everything or nothing. */
const writeUndo = asWrite('undos.write', function* ({ tenant, undoing }: WriteUndo): Script<Undone> {
  const { undo, changes, tombstones, undone, redone } = undoing;
  requireLane(undo, changes);
  const { lane, at: now } = undo;
  const row = yield* lockLane(lane);
  if (row === null || row.erasure !== null || !(yield* follows(undoing))) return { kind: 'conflict' };
  if ((yield* conflicts(tenant, changes, [row])).length > 0) return { kind: 'conflict' };
  yield* run(DELETE_TOMBSTONES, { lane, changed: idsOf(undoing) });
  yield* writeChanges({ changes, tombstones }, { tenant, consolidationId: null, now });
  yield* together(
    run(UNDO_CONSOLIDATIONS, { ids: undone }),
    run(UNDO_BATCHES, { ids: undone, now }),
    run(UNDO_REVIEWS, { ids: undone, note: UNDONE_NOTE, now }),
    run(REDO_CONSOLIDATIONS, { ids: redone }),
    run(REDO_BATCHES, { ids: redone, now }),
    run(REDO_REVIEWS, { ids: redone, note: UNDONE_NOTE }),
  );
  yield* forgetSummaries(lane);
  yield* run(INSERT_UNDO, undoColumns(undo, tenant));
  yield* retakeGraph(tenant, undoing, yield* loadUndos({ lane }));
  return { kind: 'written' };
});

/** Whether it is the next undo of its lane, and what it undoes has changed nothing else since it was worked out. */
function* follows({ undo: { lane, number }, undone, ...undoing }: Undoing): Script<boolean> {
  const [last, stray] = yield* together(
    first<{ number: number | null }>('SELECT max(number) AS number FROM undos WHERE lane = @lane', { lane }),
    first(SELECT_STRAY, { undone, changed: idsOf(undoing) }),
  );
  return number === (last?.number ?? 0) + 1 && stray === null;
}

const idsOf = ({ changes }: Pick<Undoing, 'changes'>): readonly string[] => changes.map(({ memory }) => memory.id);

/** An undone consolidation has changed more than what is undone. */
const SELECT_STRAY = `
  SELECT 1 AS stray FROM events WHERE consolidation_id IN :undone AND NOT (memory_id IN :changed) LIMIT 1`;

const DELETE_TOMBSTONES = 'DELETE FROM tombstones WHERE lane = @lane AND memory_id IN :changed';

const UNDO_CONSOLIDATIONS = "UPDATE consolidations SET state = 'undone' WHERE id IN :ids";

const UNDO_BATCHES = `
  UPDATE batches SET state = 'undone', stage = 'done', ${REVISE}
  WHERE consolidation_id IN :ids AND outcome IS NOT NULL`;

const UNDO_REVIEWS = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE consolidation_id IN :ids AND state = 'pending'`;

const REDO_CONSOLIDATIONS = "UPDATE consolidations SET state = 'applied' WHERE id IN :ids";

const REDO_BATCHES = `
  UPDATE batches SET state = outcome, searchable_at = coalesce(searchable_at, @now), ${REVISE}
  WHERE consolidation_id IN :ids AND state = 'undone'`;

const REDO_REVIEWS = `
  UPDATE reviews SET state = 'pending', note = NULL, settled_at = NULL
  WHERE consolidation_id IN :ids AND state = 'stale' AND note = @note`;

const undoColumns = ({ owner: _, to, consolidations, undos, ...undo }: Undo, tenant: TenantId) => ({
  ...undo,
  tenant,
  leads_to: to,
  consolidations: JSON.stringify(consolidations),
  undos: JSON.stringify(undos),
});

const INSERT_UNDO = `
  INSERT INTO undos (id, tenant, lane, number, kind, leads_to, consolidations, undos, memories, at)
  VALUES (@id, @tenant, @lane, @number, @kind, @leads_to, @consolidations::jsonb, @undos::jsonb, @memories, @at)`;

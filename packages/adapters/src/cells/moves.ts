import { bitsOfKey, type Millis, type TenantId } from '@slowwave/engine';
import {
  type AskedHandover,
  type AskedMove,
  CLAIM_MOST_MS,
  type Handover,
  type MovableOwner,
  type OwnerMove,
  rangeAt,
  type WorkClaim,
  withGiven,
} from '@slowwave/engine/cells';
import { allAs, first, run, type Script } from '../ledger/script.ts';
import {
  cellOf,
  DROP_EXCEPTIONS,
  directory,
  livingCells,
  locked,
  pin,
  place,
  raised,
  raisedLayout,
  ranges,
  saveRanges,
} from './layout.ts';

export function* askMove({ moveId, tenant, owner, key, destination }: AskedMove): Script<boolean> {
  const source = yield* cellOf(key);
  const moved = yield* first("SELECT id FROM moves WHERE owner_key = @key AND state <> 'given_up'", { key });
  const goes = (yield* livingCells()).map(({ name }) => name);
  if (moved !== null || source === destination || ![source, destination].every((cell) => goes.includes(cell)))
    return false;
  const epoch = yield* pin(key, source);
  yield* run('DELETE FROM moves WHERE owner_key = @key', { key });
  yield* run(INSERT_MOVE, {
    ...{ id: moveId, tenant, kind: owner.kind, ownerId: owner.id, key, slot: bitsOfKey(key) },
    ...{ source, destination, epoch },
  });
  return true;
}

const INSERT_MOVE = `
  INSERT INTO moves (id, tenant, owner_kind, owner_id, owner_key, slot, source, destination, epoch, attempt, state, tries,
    due_at, leased_until)
  VALUES (@id, @tenant, @kind, @ownerId, @key, @slot, @source, @destination, @epoch, 0, 'copying', 0, 0, 0)`;

/** A time that has come, or that a clock has written which was ahead. */
export const isOver = (column: string): string => `(${column} <= @now OR ${column} > @now + ${CLAIM_MOST_MS})`;

const DUE = `${isOver('due_at')} AND ${isOver('leased_until')}`;

export function* takeMoves({ now, leaseMs, limit }: WorkClaim): Script<readonly OwnerMove[]> {
  yield* locked();
  const text = `SELECT * FROM moves WHERE ${DUE} AND state <> 'given_up' ORDER BY due_at, id LIMIT @limit`;
  const due = yield* allAs(moveOf, text, { now, limit });
  for (const { id } of due) yield* run(CLAIM_MOVE, { id, until: now + leaseMs });
  return due.map((move) => ({ ...move, attempt: move.attempt + 1 }));
}

const CLAIM_MOVE = 'UPDATE moves SET attempt = attempt + 1, leased_until = @until WHERE id = @id';

export function* keepMove(move: OwnerMove, leasedUntil: Millis): Script<boolean> {
  yield* locked();
  return yield* savedMove(move, leasedUntil);
}

export function* savedMove(move: OwnerMove, leasedUntil: Millis): Script<boolean> {
  const { id, attempt, state, copy, tries, why, dueAt } = move;
  const [importId, stamp] = [copy?.importId ?? null, copy?.stamp ?? null];
  const changed = yield* run(UPDATE_MOVE, { id, attempt, state, importId, stamp, tries, why, dueAt, leasedUntil });
  if (changed > 0 && state === 'given_up') yield* place(move.key, move.source);
  return changed > 0;
}

const UPDATE_MOVE = `
  UPDATE moves SET state = @state, import_id = @importId, stamp = @stamp, tries = @tries, why = @why, due_at = @dueAt,
    leased_until = @leasedUntil
  WHERE id = @id AND attempt = @attempt`;

export function* switchOwner({ id, attempt, key, destination }: OwnerMove): Script<boolean> {
  yield* locked();
  if ((yield* run('DELETE FROM moves WHERE id = @id AND attempt = @attempt', { id, attempt })) === 0) return false;
  yield* place(key, destination);
  return true;
}

export function* dropMove({ id, attempt, key }: OwnerMove): Script<boolean> {
  yield* locked();
  if ((yield* run('DELETE FROM moves WHERE id = @id AND attempt = @attempt', { id, attempt })) === 0) return false;
  yield* pin(key, null);
  return true;
}

export function* vacate(cell: string, keys: readonly string[] | null, seen: number): Script<number> {
  yield* locked();
  const text = 'SELECT owner_key AS key FROM exceptions WHERE cell = @cell ORDER BY owner_key';
  let count = 0;
  for (const key of keys ?? (yield* allAs((row: { key: string }) => row.key, text, { cell }))) {
    if ((yield* cellOf(key)) !== cell || (yield* first(SELECT_UNSURE, { key, slot: bitsOfKey(key), seen })) !== null)
      continue;
    yield* pin(key, null);
    yield* run('DELETE FROM moves WHERE owner_key = @key', { key });
    count += 1;
  }
  return count;
}

/** An owner that was placed since, is on its way, or is of a slot that changes hands. */
const SELECT_UNSURE = `
  SELECT 1 AS found FROM exceptions WHERE owner_key = @key AND epoch > @seen
  UNION ALL SELECT 1 FROM moves WHERE owner_key = @key AND state <> 'given_up'
  UNION ALL SELECT 1 FROM handovers WHERE @slot BETWEEN first_slot AND last_slot AND state <> 'emptying'`;

export const SELECT_HANDOVERS = 'SELECT * FROM handovers ORDER BY id';

export function* askHandovers(asked: readonly AskedHandover[]): Script<number> {
  yield* locked();
  const have = yield* ranges();
  const living = (yield* livingCells()).map(({ name }) => name);
  const open = [...(yield* allAs(handoverOf, SELECT_HANDOVERS))];
  let count = 0;
  for (const one of asked) {
    const range = rangeAt(have, one.from);
    const isTaken = open.some((other) => other.from <= one.to && one.from <= other.to);
    if (
      range.cell !== one.source ||
      range.to < one.to ||
      isTaken ||
      ![one.source, one.destination].every((cell) => living.includes(cell))
    )
      continue;
    const handover: Handover = { ...one, attempt: 0, state: 'closing', tries: 0, why: null, dueAt: 0 };
    open.push(handover);
    yield* raised();
    const { id, from, to, source, destination } = one;
    yield* run(INSERT_HANDOVER, { id, from, to, source, destination });
    count += 1;
  }
  return count;
}

const INSERT_HANDOVER = `
  INSERT INTO handovers (id, first_slot, last_slot, source, destination, attempt, state, tries, due_at, leased_until)
  VALUES (@id, @from, @to, @source, @destination, 0, 'closing', 0, 0, 0)`;

export function* takeHandovers({ now, leaseMs, limit }: WorkClaim): Script<readonly Handover[]> {
  yield* locked();
  const due = yield* allAs(handoverOf, `SELECT * FROM handovers WHERE ${DUE} ORDER BY id LIMIT @limit`, { now, limit });
  // The first claim closes slots: whoever was told before that must not keep them open.
  if (due.some(({ attempt }) => attempt === 0)) yield* raised();
  for (const { id } of due) yield* run(CLAIM_HANDOVER, { id, until: now + leaseMs });
  return due.map((handover) => ({ ...handover, attempt: handover.attempt + 1 }));
}

const CLAIM_HANDOVER = 'UPDATE handovers SET attempt = attempt + 1, leased_until = @until WHERE id = @id';

export function* keptHandover(
  { id, attempt, state, tries, why, dueAt }: Handover,
  leasedUntil: Millis,
): Script<boolean> {
  const text = `
    UPDATE handovers SET state = @state, tries = @tries, why = @why, due_at = @dueAt, leased_until = @leasedUntil
    WHERE id = @id AND attempt = @attempt`;
  return (yield* run(text, { id, attempt, state, tries, why, dueAt, leasedUntil })) > 0;
}

export function* switchSlots(handover: Handover, owners: readonly MovableOwner[]): Script<boolean> {
  yield* locked();
  if (!(yield* keptHandover(handover, 0))) return false;
  const { from, to, source, destination } = handover;
  const here: MovableOwner[] = [];
  for (const owner of owners) {
    const cell = yield* cellOf(owner.key);
    yield* pin(owner.key, cell);
    if (cell === source) here.push(owner);
  }
  yield* raisedLayout();
  yield* saveRanges(withGiven(yield* ranges(), { from, to }, destination));
  const { epoch } = yield* directory();
  yield* run(DROP_EXCEPTIONS, { from, to, destination, epoch });
  for (const owner of here) yield* askMove({ ...owner, destination });
  return true;
}

interface MoveRow {
  readonly id: string;
  readonly tenant: TenantId;
  readonly owner_kind: OwnerMove['owner']['kind'];
  readonly owner_id: string;
  readonly owner_key: string;
  readonly source: string;
  readonly destination: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly state: OwnerMove['state'];
  readonly import_id: string | null;
  readonly stamp: string | null;
  readonly tries: number;
  readonly why: string | null;
  readonly due_at: number;
}

export const moveOf = (row: MoveRow): OwnerMove => ({
  ...{ id: row.id, tenant: row.tenant, owner: { kind: row.owner_kind, id: row.owner_id }, key: row.owner_key },
  ...{ source: row.source, destination: row.destination, epoch: row.epoch, attempt: row.attempt, state: row.state },
  copy: row.import_id === null || row.stamp === null ? null : { importId: row.import_id, stamp: row.stamp },
  ...{ tries: row.tries, why: row.why, dueAt: row.due_at },
});

interface HandoverRow extends Pick<Handover, 'id' | 'source' | 'destination' | 'attempt' | 'state' | 'tries' | 'why'> {
  readonly first_slot: number;
  readonly last_slot: number;
  readonly due_at: number;
}

export const handoverOf = (row: HandoverRow): Handover => ({
  ...{ id: row.id, from: row.first_slot, to: row.last_slot, source: row.source, destination: row.destination },
  ...{ attempt: row.attempt, state: row.state, tries: row.tries, why: row.why, dueAt: row.due_at },
});

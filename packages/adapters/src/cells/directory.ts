import { bitsOfKey, type Millis, type TenantId } from '@slowwave/engine';
import {
  type AskedHandover,
  type AskedMove,
  type Cell,
  type CellDirectory,
  type CellState,
  closedTo,
  type DirectoryChanges,
  firstRanges,
  type Handover,
  type MovableOwner,
  OWNER_MOVE_STATES,
  type OwnerMove,
  rangeAt,
  type SlotRange,
  type TenantPlace,
  type WorkClaim,
  withGiven,
} from '@slowwave/engine/cells';
import { read, snapshot, storeOf, write } from '../ledger/access.ts';
import { all, allAs, counted, first, firstAs, run, type Script } from '../ledger/script.ts';

/** The directory without what opens and closes it. */
export type DirectoryStore = Omit<CellDirectory, 'close'>;

export const directoryStore = storeOf<DirectoryStore>('directory', {
  changes: snapshot(changes),
  addCell: write(addCell),
  changeCell: write(changeCell),
  removeCell: write(removeCell),
  askMoves: write(function* (asked: readonly AskedMove[]) {
    yield* locked();
    let count = 0;
    for (const one of asked) count += (yield* askMove(one)) ? 1 : 0;
    return count;
  }),
  takeMoves: write(takeMoves),
  keepMove: write(keepMove),
  switchOwner: write(switchOwner),
  moves: snapshot(function* (limit: number) {
    const rows = yield* all<{ state: string; count: number }>(
      'SELECT state, count(*) AS count FROM moves GROUP BY state',
    );
    const counts = OWNER_MOVE_STATES.map((state) => [state, rows.find((row) => row.state === state)?.count ?? 0]);
    const oldest = yield* allAs(moveOf, 'SELECT * FROM moves ORDER BY id LIMIT @limit', { limit });
    return { counts: Object.fromEntries(counts), oldest };
  }),
  askHandovers: write(askHandovers),
  takeHandovers: write(takeHandovers),
  keepHandover: write(function* (handover: Handover, leasedUntil: Millis) {
    yield* raised();
    return yield* keptHandover(handover, leasedUntil);
  }),
  endHandover: write(function* ({ id, attempt }: Handover) {
    yield* raised();
    return (yield* run('DELETE FROM handovers WHERE id = @id AND attempt = @attempt', { id, attempt })) > 0;
  }),
  handovers: read(() => allAs(handoverOf, SELECT_HANDOVERS)),
  slotsOf: snapshot(function* (cell: string) {
    const { epoch } = yield* directory();
    return { epoch, closed: closedTo(cell, yield* ranges(), yield* allAs(handoverOf, SELECT_HANDOVERS)) };
  }),
  switchSlots: write(switchSlots),
  unmovedOf: read(({ from, to }, source) => counted(COUNT_UNMOVED, { from, to, source })),
  raiseTenant: write(raiseTenant),
  tenants: read(() => allAs(tenantOf, 'SELECT * FROM tenants ORDER BY tenant')),
  copiesOf: read((tenant) => all('SELECT cell, epoch, share FROM copies WHERE tenant = @tenant', { tenant })),
  keepCopy: write(function* (tenant, { cell, epoch, share }) {
    yield* run(UPSERT_COPY, { tenant, cell, epoch, share });
  }),
});

const COUNT_UNMOVED = `
  SELECT count(*) AS count FROM moves
  WHERE source = @source AND slot BETWEEN @from AND @to AND state <> 'given_up'`;

const UPSERT_COPY = `
  INSERT INTO copies (tenant, cell, epoch, share) VALUES (@tenant, @cell, @epoch, @share)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch, share = excluded.share
  WHERE copies.epoch <= excluded.epoch`;

interface DirectoryRow {
  readonly epoch: number;
  readonly layout_epoch: number;
}

function* directory(): Script<DirectoryRow> {
  return (yield* first<DirectoryRow>('SELECT epoch, layout_epoch FROM directory')) ?? { epoch: 0, layout_epoch: 0 };
}

/** One change at a time: who asks for what changed since an epoch must not miss one that ends later. */
function* locked(): Script<void> {
  yield* first('SELECT epoch FROM directory FOR UPDATE');
}

function* raised(): Script<number> {
  yield* run('UPDATE directory SET epoch = epoch + 1');
  return (yield* directory()).epoch;
}

/** The same where cells or slots change. */
function* raisedLayout(): Script<void> {
  yield* run('UPDATE directory SET epoch = epoch + 1, layout_epoch = epoch + 1');
}

function* changes(after: number): Script<DirectoryChanges> {
  const { epoch, layout_epoch } = yield* directory();
  const isNew = layout_epoch > after;
  return {
    epoch,
    cells: isNew ? yield* cells() : null,
    ranges: isNew ? yield* ranges() : null,
    exceptions: yield* allAs(
      ({ owner_key, cell }: { owner_key: string; cell: string | null }) => ({ key: owner_key, cell }),
      'SELECT owner_key, cell FROM exceptions WHERE epoch > @after',
      { after },
    ),
    tenants: yield* allAs(tenantOf, 'SELECT * FROM tenants WHERE changed_at > @after', { after }),
  };
}

const cells = (): Script<Cell[]> => allAs((cell: Cell) => cell, 'SELECT name, url, state FROM cells ORDER BY added');

const ranges = (): Script<SlotRange[]> =>
  allAs(
    ({ first_slot, last_slot, cell }: { first_slot: number; last_slot: number; cell: string }) => ({
      ...{ from: first_slot, to: last_slot, cell },
    }),
    'SELECT first_slot, last_slot, cell FROM slot_ranges ORDER BY first_slot',
  );

function* saveRanges(next: readonly SlotRange[]): Script<void> {
  yield* run('DELETE FROM slot_ranges');
  for (const { from, to, cell } of next) {
    yield* run('INSERT INTO slot_ranges (first_slot, last_slot, cell) VALUES (@from, @to, @cell)', { from, to, cell });
  }
}

function* addCell({ name, url }: Pick<Cell, 'name' | 'url'>): Script<boolean> {
  yield* locked();
  const known = yield* cells();
  if (known.some((cell) => cell.name === name)) return false;
  yield* raisedLayout();
  const { epoch } = yield* directory();
  yield* run("INSERT INTO cells (name, url, state, added) VALUES (@name, @url, 'open', @epoch)", { name, url, epoch });
  if (known.length === 0) yield* saveRanges(firstRanges(name));
  return true;
}

function* changeCell(name: string, change: { url?: string; state?: CellState }): Script<boolean> {
  yield* locked();
  const known = (yield* cells()).find((cell) => cell.name === name);
  if (known === undefined) return false;
  const { url, state } = { ...known, ...change };
  yield* raisedLayout();
  yield* run('UPDATE cells SET url = @url, state = @state WHERE name = @name', { name, url, state });
  return true;
}

/** What leads to a cell. */
const LEADS: Readonly<Record<string, string>> = {
  slots: 'SELECT count(*) AS count FROM slot_ranges WHERE cell = @name',
  owners: 'SELECT count(*) AS count FROM exceptions WHERE cell = @name',
  tenants: 'SELECT count(*) AS count FROM tenants WHERE home = @name',
  moves: "SELECT count(*) AS count FROM moves WHERE destination = @name AND state <> 'given_up'",
};

function* removeCell(name: string): Script<readonly string[]> {
  yield* locked();
  const leads: string[] = [];
  for (const [what, text] of Object.entries(LEADS)) if ((yield* counted(text, { name })) > 0) leads.push(what);
  if (leads.length > 0) return leads;
  yield* raisedLayout();
  yield* run('DELETE FROM cells WHERE name = @name', { name });
  yield* run('DELETE FROM copies WHERE cell = @name', { name });
  return [];
}

/** Where an owner is now. */
function* cellOf(key: string): Script<string> {
  const found = yield* first<{ cell: string | null }>('SELECT cell FROM exceptions WHERE owner_key = @key', { key });
  return found?.cell ?? rangeAt(yield* ranges(), bitsOfKey(key)).cell;
}

function* pin(key: string, cell: string | null): Script<number> {
  const epoch = yield* raised();
  yield* run(UPSERT_EXCEPTION, { key, slot: bitsOfKey(key), cell, epoch });
  return epoch;
}

const UPSERT_EXCEPTION = `
  INSERT INTO exceptions (owner_key, slot, cell, epoch) VALUES (@key, @slot, @cell, @epoch)
  ON CONFLICT (owner_key) DO UPDATE SET cell = excluded.cell, epoch = excluded.epoch`;

/** An owner that is where its slot is needs no exception. */
function* place(key: string, cell: string): Script<void> {
  yield* pin(key, rangeAt(yield* ranges(), bitsOfKey(key)).cell === cell ? null : cell);
}

function* askMove({ moveId, tenant, owner, key, destination }: AskedMove): Script<boolean> {
  const source = yield* cellOf(key);
  const moved = yield* first("SELECT id FROM moves WHERE owner_key = @key AND state <> 'given_up'", { key });
  if (moved !== null || source === destination) return false;
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

const DUE = 'due_at <= @now AND leased_until <= @now';

function* takeMoves({ now, leaseMs, limit }: WorkClaim): Script<readonly OwnerMove[]> {
  yield* locked();
  const text = `SELECT * FROM moves WHERE ${DUE} AND state <> 'given_up' ORDER BY due_at, id LIMIT @limit`;
  const due = yield* allAs(moveOf, text, { now, limit });
  for (const { id } of due) yield* run(CLAIM_MOVE, { id, until: now + leaseMs });
  return due.map((move) => ({ ...move, attempt: move.attempt + 1 }));
}

const CLAIM_MOVE = 'UPDATE moves SET attempt = attempt + 1, leased_until = @until WHERE id = @id';

function* keepMove(move: OwnerMove, leasedUntil: Millis): Script<boolean> {
  yield* locked();
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

function* switchOwner({ id, attempt, key, destination }: OwnerMove): Script<boolean> {
  yield* locked();
  if ((yield* run('DELETE FROM moves WHERE id = @id AND attempt = @attempt', { id, attempt })) === 0) return false;
  yield* place(key, destination);
  return true;
}

const SELECT_HANDOVERS = 'SELECT * FROM handovers ORDER BY id';

function* askHandovers(asked: readonly AskedHandover[]): Script<number> {
  yield* locked();
  const have = yield* ranges();
  const open = [...(yield* allAs(handoverOf, SELECT_HANDOVERS))];
  let count = 0;
  for (const one of asked) {
    const range = rangeAt(have, one.from);
    const isTaken = open.some((other) => other.from <= one.to && one.from <= other.to);
    if (range.cell !== one.source || range.to < one.to || isTaken) continue;
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

function* takeHandovers({ now, leaseMs, limit }: WorkClaim): Script<readonly Handover[]> {
  yield* locked();
  const due = yield* allAs(handoverOf, `SELECT * FROM handovers WHERE ${DUE} ORDER BY id LIMIT @limit`, { now, limit });
  // The first claim closes slots: whoever was told before that must not keep them open.
  if (due.some(({ attempt }) => attempt === 0)) yield* raised();
  for (const { id } of due) yield* run(CLAIM_HANDOVER, { id, until: now + leaseMs });
  return due.map((handover) => ({ ...handover, attempt: handover.attempt + 1 }));
}

const CLAIM_HANDOVER = 'UPDATE handovers SET attempt = attempt + 1, leased_until = @until WHERE id = @id';

function* keptHandover({ id, attempt, state, tries, why, dueAt }: Handover, leasedUntil: Millis): Script<boolean> {
  const text = `
    UPDATE handovers SET state = @state, tries = @tries, why = @why, due_at = @dueAt, leased_until = @leasedUntil
    WHERE id = @id AND attempt = @attempt`;
  return (yield* run(text, { id, attempt, state, tries, why, dueAt, leasedUntil })) > 0;
}

function* switchSlots(handover: Handover, owners: readonly MovableOwner[]): Script<boolean> {
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

/** Exceptions that lead where the slot leads are none any more, unless the owner is on its way. */
const DROP_EXCEPTIONS = `
  UPDATE exceptions SET cell = NULL, epoch = @epoch
  WHERE slot BETWEEN @from AND @to AND cell = @destination
    AND NOT EXISTS (SELECT 1 FROM moves m WHERE m.owner_key = exceptions.owner_key AND m.state <> 'given_up')`;

function* raiseTenant(tenant: TenantId, home: string | null): Script<TenantPlace> {
  yield* locked();
  const before = yield* firstAs(tenantOf, 'SELECT * FROM tenants WHERE tenant = @tenant', { tenant });
  const epoch = yield* raised();
  const place = {
    ...{ tenant, epoch: (before?.epoch ?? 0) + 1 },
    home: home ?? before?.home ?? (yield* cells())[0]?.name ?? '',
  };
  yield* run(UPSERT_TENANT, { ...place, changedAt: epoch });
  return place;
}

const UPSERT_TENANT = `
  INSERT INTO tenants (tenant, home, epoch, changed_at) VALUES (@tenant, @home, @epoch, @changedAt)
  ON CONFLICT (tenant) DO UPDATE SET home = excluded.home, epoch = excluded.epoch, changed_at = excluded.changed_at`;

const tenantOf = ({ tenant, home, epoch }: TenantPlace): TenantPlace => ({ tenant, home, epoch });

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

const moveOf = (row: MoveRow): OwnerMove => ({
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

const handoverOf = (row: HandoverRow): Handover => ({
  ...{ id: row.id, from: row.first_slot, to: row.last_slot, source: row.source, destination: row.destination },
  ...{ attempt: row.attempt, state: row.state, tries: row.tries, why: row.why, dueAt: row.due_at },
});

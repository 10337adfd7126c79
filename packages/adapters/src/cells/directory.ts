import type { Millis } from '@slowwave/engine';
import {
  type AskedMove,
  type Cell,
  type CellDirectory,
  type CellState,
  closedTo,
  type DirectoryChanges,
  firstRanges,
  type Handover,
  OWNER_MOVE_STATES,
} from '@slowwave/engine/cells';
import { all, allAs, counted, read, run, type Script, snapshot, storeOf, write } from '../ledger/script.ts';
import { cells, directory, locked, raised, raisedLayout, ranges, saveRanges } from './layout.ts';
import { leaveBehind, loseCell } from './lost.ts';
import {
  askHandovers,
  askMove,
  dropMove,
  handoverOf,
  keepMove,
  keptHandover,
  moveOf,
  SELECT_HANDOVERS,
  switchOwner,
  switchSlots,
  takeHandovers,
  takeMoves,
  vacate,
} from './moves.ts';
import { grantShare, settleShare, sharesOf } from './shares.ts';
import { beginChange, endChange, holdHome, raiseTenant, switchHome, tenantOf, UPSERT_COPY } from './tenants.ts';

/** The directory without what opens and closes it, and its clock. */
export type DirectoryStore = Omit<CellDirectory, 'close' | 'now'>;

export const directoryStore = storeOf<DirectoryStore>('directory', {
  changes: snapshot(changes),
  addCell: write(addCell),
  changeCell: write(changeCell),
  removeCell: write(removeCell),
  loseCell: write(loseCell),
  leaveBehind: write(leaveBehind),
  askMoves: write(function* (asked: readonly AskedMove[]) {
    yield* locked();
    let count = 0;
    for (const one of asked) count += (yield* askMove(one)) ? 1 : 0;
    return count;
  }),
  takeMoves: write(takeMoves),
  keepMove: write(keepMove),
  switchOwner: write(switchOwner),
  dropMove: write(dropMove),
  vacate: write(vacate),
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
  raiseTenant: write((tenant) => raiseTenant(tenant, null)),
  beginChange: write(beginChange),
  endChange: write(endChange),
  holdHome: write(holdHome),
  switchHome: write(switchHome),
  tenants: read(() => allAs(tenantOf, 'SELECT * FROM tenants ORDER BY tenant')),
  copiesOf: read((tenant) => all('SELECT cell, epoch FROM copies WHERE tenant = @tenant', { tenant })),
  keepCopy: write(function* (tenant, { cell, epoch }) {
    yield* run(UPSERT_COPY, { tenant, cell, epoch });
  }),
  sharesOf: snapshot(sharesOf),
  grantShare: write(grantShare),
  settleShare: write(settleShare),
});

const COUNT_UNMOVED = `
  SELECT count(*) AS count FROM moves
  WHERE source = @source AND slot BETWEEN @from AND @to AND state <> 'given_up'`;

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
  yield* run('DELETE FROM shares WHERE cell = @name', { name });
  return [];
}

import { bitsOfKey } from '@slowwave/engine';
import { type Cell, isLost, rangeAt, type SlotRange } from '@slowwave/engine/cells';
import { allAs, first, run, type Script } from '../ledger/script.ts';

/** Which cell has whom, and the epoch of it. */
interface DirectoryRow {
  readonly epoch: number;
  readonly layout_epoch: number;
}

export function* directory(): Script<DirectoryRow> {
  return (yield* first<DirectoryRow>('SELECT epoch, layout_epoch FROM directory')) ?? { epoch: 0, layout_epoch: 0 };
}

/** One change at a time: who asks for what changed since an epoch must not miss one that ends later. */
export function* locked(): Script<void> {
  yield* first('SELECT epoch FROM directory FOR UPDATE');
}

export function* raised(): Script<number> {
  yield* run('UPDATE directory SET epoch = epoch + 1');
  return (yield* directory()).epoch;
}

/** The same where cells or slots change. */
export function* raisedLayout(): Script<void> {
  yield* run('UPDATE directory SET epoch = epoch + 1, layout_epoch = epoch + 1');
}

export const cells = (): Script<Cell[]> =>
  allAs((cell: Cell) => cell, 'SELECT name, url, state FROM cells ORDER BY added');

export const ranges = (): Script<SlotRange[]> =>
  allAs(
    ({ first_slot, last_slot, cell }: { first_slot: number; last_slot: number; cell: string }) => ({
      ...{ from: first_slot, to: last_slot, cell },
    }),
    'SELECT first_slot, last_slot, cell FROM slot_ranges ORDER BY first_slot',
  );

export function* saveRanges(next: readonly SlotRange[]): Script<void> {
  yield* run('DELETE FROM slot_ranges');
  for (const { from, to, cell } of next) {
    yield* run('INSERT INTO slot_ranges (first_slot, last_slot, cell) VALUES (@from, @to, @cell)', { from, to, cell });
  }
}

export function* livingCells(): Script<readonly Cell[]> {
  return (yield* cells()).filter((cell) => !isLost(cell));
}

/** Where an owner is now. */
export function* cellOf(key: string): Script<string> {
  const found = yield* first<{ cell: string | null }>('SELECT cell FROM exceptions WHERE owner_key = @key', { key });
  return found?.cell ?? rangeAt(yield* ranges(), bitsOfKey(key)).cell;
}

export function* pin(key: string, cell: string | null): Script<number> {
  const epoch = yield* raised();
  yield* run(UPSERT_EXCEPTION, { key, slot: bitsOfKey(key), cell, epoch });
  return epoch;
}

const UPSERT_EXCEPTION = `
  INSERT INTO exceptions (owner_key, slot, cell, epoch) VALUES (@key, @slot, @cell, @epoch)
  ON CONFLICT (owner_key) DO UPDATE SET cell = excluded.cell, epoch = excluded.epoch`;

/** An owner that is where its slot is needs no exception. */
export function* place(key: string, cell: string): Script<void> {
  yield* pin(key, rangeAt(yield* ranges(), bitsOfKey(key)).cell === cell ? null : cell);
}

/** Exceptions that lead where the slot leads are none any more, unless the owner is on its way. */
export const DROP_EXCEPTIONS = `
  UPDATE exceptions SET cell = NULL, epoch = @epoch
  WHERE slot BETWEEN @from AND @to AND cell = @destination
    AND NOT EXISTS (SELECT 1 FROM moves m WHERE m.owner_key = exceptions.owner_key AND m.state <> 'given_up')`;

import { bitsOfKey, type Millis } from '@slowwave/engine';
import {
  type Cell,
  type DirectoryChanges,
  type Handover,
  isLost,
  isWithin,
  type KeptCopy,
  type KeptShare,
  type OwnerMove,
  type PlannedHandover,
  type SlotRange,
  type TenantPlace,
  withGiven,
} from '@slowwave/engine/cells';

export interface Leased<One> {
  readonly one: One;
  readonly until: Millis;
}

export type DirectoryState = ReturnType<typeof directoryState>;

/** Who is where, and the epochs at which that changed. */
export function directoryState() {
  let [epoch, cells, ranges, changedAt]: [number, readonly Cell[], readonly SlotRange[], number] = [0, [], [], 0];
  const exceptions = new Map<string, { readonly cell: string | null; readonly epoch: number }>();
  const tenants = new Map<string, TenantPlace & { readonly changedAt: number }>();
  const moves = new Map<string, Leased<OwnerMove>>();
  const handovers = new Map<string, Leased<Handover>>();
  const copies = new Map<TenantPlace['tenant'], Map<string, KeptCopy>>();
  const shares = new Map<TenantPlace['tenant'], Map<string, KeptShare>>();
  const held = new Map<TenantPlace['tenant'], Millis>();
  const changing = new Map<string, { readonly tenant: TenantPlace['tenant']; readonly until: Millis }>();
  const raise = (): number => {
    epoch += 1;
    return epoch;
  };
  const slotCell = (key: string): string => ranges.find((range) => isWithin(bitsOfKey(key), range))?.cell ?? '';
  return {
    moves,
    handovers,
    exceptions,
    tenants,
    copies,
    shares,
    held,
    changing,
    raise,
    cells: () => cells,
    isLiving: (name: string): boolean => cells.some((cell) => cell.name === name && !isLost(cell)),
    ranges: () => ranges,
    setCells: (next: readonly Cell[]) => {
      cells = next;
      changedAt = raise();
    },
    setRanges: (next: readonly SlotRange[]) => {
      ranges = next;
      changedAt = raise();
    },
    cellOf: (key: string): string => exceptions.get(key)?.cell ?? slotCell(key),
    pin: (key: string, cell: string, unless?: 'unless the slot is there') =>
      exceptions.set(key, { cell: unless !== undefined && slotCell(key) === cell ? null : cell, epoch: raise() }),
    unpin: (key: string) => exceptions.set(key, { cell: null, epoch: raise() }),
    mayChangeHands: (one: PlannedHandover): boolean =>
      cells.filter((cell) => !isLost(cell) && (cell.name === one.source || cell.name === one.destination)).length ===
        2 &&
      ranges.some((range) => range.cell === one.source && range.from <= one.from && one.to <= range.to) &&
      ![...handovers.values()].some(({ one: other }) => other.from <= one.to && one.from <= other.to),
    /** Exceptions that lead where the slot leads are none any more, unless the owner is on its way. */
    give: (handover: PlannedHandover) => {
      ranges = withGiven(ranges, handover, handover.destination);
      changedAt = raise();
      const moving = new Set([...moves.values()].flatMap(({ one }) => (one.state === 'given_up' ? [] : [one.key])));
      for (const [key, { cell }] of exceptions) {
        const isThere = cell === handover.destination && isWithin(bitsOfKey(key), handover);
        if (isThere && !moving.has(key)) exceptions.set(key, { cell: null, epoch: raise() });
      }
    },
    /** Nothing leads to it any more. */
    forgetCell: (name: string): void => {
      for (const [key, { cell }] of exceptions) if (cell === name) exceptions.set(key, { cell: null, epoch: raise() });
      for (const [id, { one }] of moves) if (one.source === name || one.destination === name) moves.delete(id);
      for (const kept of copies.values()) kept.delete(name);
    },
    changes: (after: number): DirectoryChanges => ({
      ...{ epoch, cells: changedAt > after ? cells : null, ranges: changedAt > after ? ranges : null },
      exceptions: [...exceptions].filter(([, e]) => e.epoch > after).map(([key, { cell }]) => ({ key, cell })),
      tenants: [...tenants.values()].filter((t) => t.changedAt > after).map(({ changedAt: _, ...place }) => place),
    }),
  };
}

export function raised(state: DirectoryState, tenant: TenantPlace['tenant'], home: string | null): TenantPlace {
  const before = state.tenants.get(tenant);
  const at = home ?? before?.home ?? state.cells().find((cell) => !isLost(cell))?.name ?? '';
  const place = { tenant, home: at, epoch: (before?.epoch ?? 0) + 1 };
  state.tenants.set(tenant, { ...place, changedAt: state.raise() });
  return place;
}

import { bitsOfKey, type Millis } from '@slowwave/engine';
import {
  type AskedMove,
  type Cell,
  type CellDirectory,
  closedTo,
  type DirectoryChanges,
  firstRanges,
  type Handover,
  isWithin,
  type KeptCopy,
  OWNER_MOVE_STATES,
  type OwnerMove,
  type SlotRange,
  type TenantPlace,
  type WorkClaim,
  withGiven,
} from '@slowwave/engine/cells';

interface Leased<One> {
  readonly one: One;
  readonly until: Millis;
}

/** The directory in memory, one call after the other. */
export function memoryDirectory(): CellDirectory {
  const state = directoryState();
  const { moves, handovers, raise, cellOf, pin } = state;
  const copies = new Map<string, Map<string, KeptCopy>>();
  const isMoved = (key: string): boolean =>
    [...moves.values()].some(({ one }) => one.key === key && one.state !== 'given_up');
  const ask = (asked: AskedMove): boolean => {
    const source = cellOf(asked.key);
    if (isMoved(asked.key) || source === asked.destination) return false;
    for (const [id, { one }] of moves) if (one.key === asked.key) moves.delete(id);
    const { moveId, ...owner } = asked;
    const fresh = { epoch: raise(), attempt: 0, state: 'copying', copy: null, tries: 0, why: null, dueAt: 0 } as const;
    moves.set(moveId, { one: { ...owner, ...fresh, id: moveId, source }, until: 0 });
    pin(asked.key, source);
    return true;
  };
  return {
    changes: async (after) => state.changes(after),
    ...cellMethods(state),
    askMoves: async (asked) => asked.filter(ask).length,
    takeMoves: async (claim) => taken(moves, claim, ({ state }) => state !== 'given_up'),
    keepMove: async (move, until) => {
      if (!kept(moves, move, until)) return false;
      if (move.state === 'given_up') pin(move.key, move.source, 'unless the slot is there');
      return true;
    },
    switchOwner: async (move) => {
      if (moves.get(move.id)?.one.attempt !== move.attempt) return false;
      moves.delete(move.id);
      pin(move.key, move.destination, 'unless the slot is there');
      return true;
    },
    moves: async (limit) => {
      const all = [...moves.values()].map(({ one }) => one);
      const counts = OWNER_MOVE_STATES.map((name) => [name, all.filter(({ state }) => state === name).length]);
      return { counts: Object.fromEntries(counts), oldest: all.slice(0, limit) };
    },
    askHandovers: async (asked) => {
      let count = 0;
      for (const one of asked) {
        if (!state.mayChangeHands(one)) continue;
        raise();
        const fresh = { attempt: 0, state: 'closing', tries: 0, why: null, dueAt: 0 } as const;
        handovers.set(one.id, { one: { ...one, ...fresh }, until: 0 });
        count += 1;
      }
      return count;
    },
    takeHandovers: async (claim) => {
      const claimed = taken(handovers, claim, () => true);
      if (claimed.some(({ attempt }) => attempt === 1)) raise();
      return claimed;
    },
    keepHandover: async (handover, until) => {
      raise();
      return kept(handovers, handover, until);
    },
    endHandover: async ({ id, attempt }) => handovers.get(id)?.one.attempt === attempt && handovers.delete(id),
    handovers: async () => [...handovers.values()].map(({ one }) => one),
    slotsOf: async (cell) => {
      const ranges = state.changes(0).ranges ?? [];
      const open = [...handovers.values()].map(({ one }) => one);
      return { epoch: state.changes(0).epoch, closed: closedTo(cell, ranges, open) };
    },
    switchSlots: async (handover, owners) => {
      if (!kept(handovers, handover, 0)) return false;
      for (const { key } of owners) pin(key, cellOf(key));
      state.give(handover);
      for (const owner of owners) {
        if (cellOf(owner.key) === handover.source) ask({ ...owner, destination: handover.destination });
      }
      return true;
    },
    unmovedOf: async (run, source) =>
      [...moves.values()].filter(
        ({ one }) => one.source === source && one.state !== 'given_up' && isWithin(bitsOfKey(one.key), run),
      ).length,
    copiesOf: async (tenant) => [...(copies.get(tenant)?.values() ?? [])],
    keepCopy: async (tenant, copy) => {
      const known = copies.get(tenant) ?? new Map<string, KeptCopy>();
      if ((known.get(copy.cell)?.epoch ?? 0) <= copy.epoch) known.set(copy.cell, copy);
      copies.set(tenant, known);
    },
    close: async () => {},
  };
}

type State = ReturnType<typeof directoryState>;

/** Who is where, and the epochs at which that changed. */
function directoryState() {
  let [epoch, cells, ranges, changedAt]: [number, readonly Cell[], readonly SlotRange[], number] = [0, [], [], 0];
  const exceptions = new Map<string, { readonly cell: string | null; readonly epoch: number }>();
  const tenants = new Map<string, TenantPlace & { readonly changedAt: number }>();
  const moves = new Map<string, Leased<OwnerMove>>();
  const handovers = new Map<string, Leased<Handover>>();
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
    raise,
    cells: () => cells,
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
    mayChangeHands: (one: { from: number; to: number; source: string }): boolean =>
      ranges.some((range) => range.cell === one.source && range.from <= one.from && one.to <= range.to) &&
      ![...handovers.values()].some(({ one: other }) => other.from <= one.to && one.from <= other.to),
    /** Exceptions that lead where the slot leads are none any more, unless the owner is on its way. */
    give: (handover: Handover) => {
      ranges = withGiven(ranges, handover, handover.destination);
      changedAt = raise();
      const moving = new Set([...moves.values()].flatMap(({ one }) => (one.state === 'given_up' ? [] : [one.key])));
      for (const [key, { cell }] of exceptions) {
        const isThere = cell === handover.destination && isWithin(bitsOfKey(key), handover);
        if (isThere && !moving.has(key)) exceptions.set(key, { cell: null, epoch: raise() });
      }
    },
    changes: (after: number): DirectoryChanges => ({
      ...{ epoch, cells: changedAt > after ? cells : null, ranges: changedAt > after ? ranges : null },
      exceptions: [...exceptions].filter(([, e]) => e.epoch > after).map(([key, { cell }]) => ({ key, cell })),
      tenants: [...tenants.values()].filter((t) => t.changedAt > after).map(({ changedAt: _, ...place }) => place),
    }),
  };
}

function cellMethods(
  state: State,
): Pick<CellDirectory, 'addCell' | 'changeCell' | 'removeCell' | 'raiseTenant' | 'tenants'> {
  const named = (name: string): boolean => state.cells().some((cell) => cell.name === name);
  return {
    addCell: async ({ name, url }) => {
      if (named(name)) return false;
      if (state.cells().length === 0) state.setRanges(firstRanges(name));
      state.setCells([...state.cells(), { name, url, state: 'open' }]);
      return true;
    },
    changeCell: async (name, change) => {
      if (!named(name)) return false;
      state.setCells(state.cells().map((cell) => (cell.name === name ? { ...cell, ...change } : cell)));
      return true;
    },
    removeCell: async (name) => {
      const leads = [
        ...(state.ranges().some(({ cell }) => cell === name) ? ['slots'] : []),
        ...([...state.exceptions.values()].some(({ cell }) => cell === name) ? ['owners'] : []),
        ...([...state.tenants.values()].some(({ home }) => home === name) ? ['tenants'] : []),
        ...([...state.moves.values()].some(({ one }) => one.state !== 'given_up' && one.destination === name)
          ? ['moves']
          : []),
      ];
      if (leads.length === 0) state.setCells(state.cells().filter((cell) => cell.name !== name));
      return leads;
    },
    raiseTenant: async (tenant, home) => {
      const before = state.tenants.get(tenant);
      const at = home ?? before?.home ?? state.cells()[0]?.name ?? '';
      const place = { tenant, home: at, epoch: (before?.epoch ?? 0) + 1 };
      state.tenants.set(tenant, { ...place, changedAt: state.raise() });
      return place;
    },
    tenants: async () => [...state.tenants.values()].map(({ changedAt: _, ...place }) => place),
  };
}

interface Carried {
  readonly id: string;
  readonly attempt: number;
  readonly dueAt: Millis;
}

function taken<One extends Carried>(
  rows: Map<string, Leased<One>>,
  { now, leaseMs, limit }: WorkClaim,
  isOpen: (one: One) => boolean,
): readonly One[] {
  const due = [...rows.values()]
    .filter(({ one, until }) => isOpen(one) && until <= now && one.dueAt <= now)
    .slice(0, limit);
  return due.map(({ one }) => {
    const claimed = { ...one, attempt: one.attempt + 1 };
    rows.set(one.id, { one: claimed, until: now + leaseMs });
    return claimed;
  });
}

function kept<One extends Carried>(rows: Map<string, Leased<One>>, one: One, until: Millis): boolean {
  if (rows.get(one.id)?.one.attempt !== one.attempt) return false;
  rows.set(one.id, { one, until });
  return true;
}

import { bitsOfKey, type Millis, type TenantId, type Tools } from '@slowwave/engine';
import {
  type AskedMove,
  type CellDirectory,
  CLAIM_MOST_MS,
  closedTo,
  firstRanges,
  granted,
  isWithin,
  type KeptCopy,
  type KeptShare,
  OWNER_MOVE_STATES,
  partAssumed,
  type WorkClaim,
} from '@slowwave/engine/cells';
import { fixedTools } from './fixed-tools.ts';
import { lossesIn } from './memory-directory-lost.ts';
import { type DirectoryState, directoryState, type Leased, raised } from './memory-directory-state.ts';

/** The directory in memory, one call after the other. */
export function memoryDirectory(tools: Pick<Tools, 'now'> = fixedTools()): CellDirectory {
  const state = directoryState();
  const { moves, handovers, copies, raise, cellOf, pin } = state;
  const isMoved = (key: string): boolean =>
    [...moves.values()].some(({ one }) => one.key === key && one.state !== 'given_up');
  const ask = (asked: AskedMove): boolean => {
    const source = cellOf(asked.key);
    if (isMoved(asked.key) || source === asked.destination || ![source, asked.destination].every(state.isLiving))
      return false;
    for (const [id, { one }] of moves) if (one.key === asked.key) moves.delete(id);
    const { moveId, ...owner } = asked;
    const fresh = { epoch: raise(), attempt: 0, state: 'copying', copy: null, tries: 0, why: null, dueAt: 0 } as const;
    moves.set(moveId, { one: { ...owner, ...fresh, id: moveId, source }, until: 0 });
    pin(asked.key, source);
    return true;
  };
  return {
    now: async () => tools.now(),
    changes: async (after) => state.changes(after),
    ...cellMethods(state),
    ...lossesIn(state),
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
    dropMove: async (move) => {
      if (moves.get(move.id)?.one.attempt !== move.attempt) return false;
      moves.delete(move.id);
      state.unpin(move.key);
      return true;
    },
    vacate: async (cell, keys, seen) => {
      const changing = [...handovers.values()].map(({ one }) => one).filter((one) => one.state !== 'emptying');
      const led = keys ?? [...state.exceptions].flatMap(([key, one]) => (one.cell === cell ? [key] : []));
      const gone = led.filter(
        (key) =>
          cellOf(key) === cell &&
          (state.exceptions.get(key)?.epoch ?? 0) <= seen &&
          !isMoved(key) &&
          !changing.some((one) => isWithin(bitsOfKey(key), one)),
      );
      for (const key of gone) {
        state.unpin(key);
        for (const [id, { one }] of moves) if (one.key === key) moves.delete(id);
      }
      return gone.length;
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
    ...sharesIn(state),
    close: async () => {},
  };
}

function sharesIn(state: DirectoryState): Pick<CellDirectory, 'sharesOf' | 'grantShare' | 'settleShare'> {
  const { shares } = state;
  const now = (tenant: TenantId, at: Millis): readonly KeptShare[] => {
    const rows = [...(shares.get(tenant)?.values() ?? [])].sort((a, b) => (a.cell < b.cell ? -1 : 1));
    const first = state.cells().find(({ name }) => state.isLiving(name));
    if (rows.length === 0) return first === undefined ? [] : [{ cell: first.name, epoch: 0, part: 1, until: null }];
    const isGone = ({ cell }: KeptShare): boolean =>
      state.cells().some((one) => one.name === cell) && !state.isLiving(cell);
    const isOver = ({ until }: KeptShare): boolean => until === null || partAssumed({ part: 1, until }, at) < 1;
    return rows.filter((row) => !(isGone(row) && isOver(row))).map((row) => ({ ...row, part: partAssumed(row, at) }));
  };
  return {
    sharesOf: async (tenant, at) => now(tenant, at),
    grantShare: async (tenant, asked, at) => {
      if (!state.isLiving(asked.cell)) return null;
      const known = now(tenant, at);
      const { told, kept } = granted(known, asked, at);
      const rows = shares.get(tenant) ?? new Map<string, KeptShare>();
      for (const one of known) if (one.epoch === 0) rows.set(one.cell, one);
      shares.set(tenant, rows.set(kept.cell, kept));
      return told;
    },
    settleShare: async (tenant, share) => {
      const rows = shares.get(tenant);
      if (rows?.get(share.cell)?.epoch === share.epoch) rows.set(share.cell, share);
    },
  };
}

function cellMethods(
  state: DirectoryState,
): Pick<
  CellDirectory,
  | 'addCell'
  | 'changeCell'
  | 'removeCell'
  | 'raiseTenant'
  | 'beginChange'
  | 'endChange'
  | 'holdHome'
  | 'switchHome'
  | 'tenants'
> {
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
      if (leads.length > 0) return leads;
      state.setCells(state.cells().filter((cell) => cell.name !== name));
      for (const rows of state.shares.values()) rows.delete(name);
      return leads;
    },
    raiseTenant: async (tenant) => raised(state, tenant, null),
    beginChange: async (tenant, { id, until }, now) => {
      if (!isOver(state.held.get(tenant) ?? 0, now)) return null;
      state.changing.set(id, { tenant, until });
      return raised(state, tenant, null);
    },
    endChange: async (tenant, id) => {
      state.changing.delete(id);
      return raised(state, tenant, null);
    },
    holdHome: async (tenant, { until, now }) => {
      raised(state, tenant, null);
      state.held.set(tenant, until);
      for (const [id, change] of state.changing) if (isOver(change.until, now)) state.changing.delete(id);
      return [...state.changing.values()].filter((change) => change.tenant === tenant).length;
    },
    switchHome: async (tenant, { to, heldUntil, now }) => {
      if (state.held.get(tenant) !== heldUntil || heldUntil <= now) return false;
      state.held.delete(tenant);
      raised(state, tenant, to);
      return true;
    },
    tenants: async () => [...state.tenants.values()].map(({ changedAt: _, ...place }) => place),
  };
}

/** A time that has come, or that a clock has written which was ahead. */
const isOver = (until: Millis, now: Millis): boolean => until <= now || until > now + CLAIM_MOST_MS;

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
    .filter(({ one, until }) => isOpen(one) && isOver(until, now) && isOver(one.dueAt, now))
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

import type { TenantId } from '@slowwave/engine';
import {
  afterLoss,
  type Cell,
  type CellDirectory,
  type Handover,
  isLost,
  type KeptCopy,
  type OwnerMove,
} from '@slowwave/engine/cells';
import { type DirectoryState, type Leased, raised } from './memory-directory-state.ts';

/** What becomes of all that leads to a cell which is lost. */
export function lossesIn(state: DirectoryState): Pick<CellDirectory, 'loseCell' | 'leaveBehind'> {
  const living = (): readonly Cell[] => state.cells().filter((cell) => !isLost(cell));
  const change = (name: string, to: Cell['state']): void =>
    state.setCells(state.cells().map((cell) => (cell.name === name ? { ...cell, state: to } : cell)));
  return {
    loseCell: async (name) => {
      if (!state.isLiving(name)) return null;
      const wasFirst = living()[0]?.name === name;
      change(name, 'lost');
      for (const { one } of [...state.moves.values()]) if (isWith(one, name)) endMove(state, one, name);
      for (const { one } of [...state.handovers.values()]) endHandover(state, one, name);
      const known = [...state.tenants.values()].filter(({ home }) => home === name).map(({ tenant }) => tenant);
      const others = [...state.copies.keys()].filter((tenant) => !state.tenants.has(tenant));
      return [...known, ...(wasFirst ? others : [])].sort().map((tenant) => {
        const newest = newestOf(state, tenant, living());
        const isBehind = newest === null || newest.epoch < (state.tenants.get(tenant)?.epoch ?? 0);
        const { home } = raised(state, tenant, newest?.cell ?? living()[0]?.name ?? '');
        return { tenant, home, isBehind };
      });
    },
    leaveBehind: async (name, given) => {
      const left = [...state.moves.values()].filter(({ one }) => one.source === name && one.state !== 'given_up');
      if (left.length > 0 || state.cells().find((cell) => cell.name === name)?.state !== 'lost') return left.length;
      for (const run of given) state.give(run);
      state.forgetCell(name);
      change(name, 'left_behind');
      return 0;
    },
  };
}

const isWith = ({ state, source, destination }: OwnerMove, cell: string): boolean =>
  state !== 'given_up' && (source === cell || destination === cell);

function endMove({ moves, pin }: DirectoryState, move: OwnerMove, lost: string): void {
  const next = afterLoss(move, lost);
  if (next === 'switched') {
    moves.delete(move.id);
    pin(move.key, move.destination, 'unless the slot is there');
    return;
  }
  moves.set(move.id, { one: { ...next, attempt: move.attempt + 1, dueAt: 0 }, until: 0 });
  if (next.state === 'given_up') pin(move.key, move.source, 'unless the slot is there');
}

function endHandover({ handovers }: DirectoryState, handover: Handover, lost: string): void {
  if (handover.state === 'emptying') return;
  const ended: Leased<Handover> = {
    one: { ...handover, state: 'reopening', attempt: handover.attempt + 1, dueAt: 0 },
    until: 0,
  };
  if (handover.source === lost) handovers.delete(handover.id);
  else if (handover.destination === lost) handovers.set(handover.id, ended);
}

function newestOf({ copies }: DirectoryState, tenant: TenantId, living: readonly Cell[]): KeptCopy | null {
  const names = living.map(({ name }) => name);
  const kept = [...(copies.get(tenant)?.values() ?? [])].filter(({ cell }) => names.includes(cell));
  return kept.sort((a, b) => b.epoch - a.epoch || names.indexOf(a.cell) - names.indexOf(b.cell))[0] ?? null;
}

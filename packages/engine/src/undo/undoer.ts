import type { EngineDeps } from '../deps.ts';
import type { Undoer, UndoResult } from '../ports/undoer.ts';
import type { ProjectDeps } from '../projection/project.ts';
import type { TenantId } from '../words.ts';
import { carryOut } from './carry-out.ts';
import type { Decision } from './decision.ts';
import { decideRedo } from './redo.ts';
import { decideRollback } from './rollback.ts';
import { decideUndo } from './undo.ts';

/** What undoing works with: nothing that thinks. */
type UndoDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/** Others may change a memory between reading and writing it; after this many times the caller is told. */
const TRIES_MAX = 5;

export function undoer(deps: UndoDeps): Undoer {
  const { ledger } = deps;
  return {
    undo: (tenant, id, how) => attempt(deps, { tenant, ...how }, () => decideUndo(ledger, { tenant, id }, how)),
    rollback: (tenant, owner, { to, dryRun }) =>
      attempt(deps, { tenant, dryRun }, () => decideRollback(ledger, { tenant, owner }, to)),
    redo: (tenant, id, how) => attempt(deps, { tenant, ...how }, () => decideRedo(ledger, tenant, id)),
  };
}

/** Decides what is taken back and does it; again where something else was changed in between. */
async function attempt(
  deps: UndoDeps,
  { tenant, dryRun }: { tenant: TenantId; dryRun: boolean },
  decide: () => Promise<Decision | UndoResult>,
): Promise<UndoResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const decision = await decide();
    if ('kind' in decision) return decision;
    const result = await carryOut(deps, decision, { tenant, dryRun });
    if (result.kind !== 'conflict') return result;
  }
  return { kind: 'conflict' };
}

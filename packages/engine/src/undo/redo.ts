import { undosInEffect } from '../memories/undone.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { UndoResult } from '../ports/undoer.ts';
import type { TenantId } from '../words.ts';
import { type Decision, livesOf, takenBack } from './decision.ts';

/** An undo or a rollback: what it took back counts again. */
export async function decideRedo(ledger: Ledger, tenant: TenantId, id: string): Promise<Decision | UndoResult> {
  const undo = await ledger.undos.get(tenant, id);
  if (undo === null) return { kind: 'not_found' };
  if (undo.kind === 'redo') return { kind: 'refused', why: 'it is a redo; undo or roll back again instead' };
  const earlier = await ledger.undos.ofLane(undo.lane);
  if (!undosInEffect(earlier).some((one) => one.id === id))
    return { kind: 'refused', why: 'it was taken back already' };
  const lives = await livesOf(ledger, tenant, await ledger.undos.touched(tenant, { undo: id }));
  return {
    lane: undo.lane,
    earlier,
    owner: undo.owner,
    what: { kindOfUndo: 'redo', consolidations: [], undos: [id], to: null },
    lives: takenBack(lives, ({ retraction }) => retraction?.undoId === id),
    statements: 0,
    dependents: [],
    actor: undo.kind,
    reason: `${undo.kind} ${id} was taken back`,
  };
}

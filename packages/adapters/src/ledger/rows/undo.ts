import type { LaneId, TenantId, Undo } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom } from './scope.ts';

export interface UndoRow extends OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly number: number;
  readonly kind: Undo['kind'];
  readonly leads_to: number | null;
  readonly consolidations: string;
  readonly undos: string;
  readonly memories: number;
  readonly at: number;
}

/** Undos with their owner's columns; add a WHERE on `u`. */
export const SELECT_UNDOS = `
  SELECT u.*, l.owner_kind, l.owner_id FROM undos u JOIN lanes l ON l.id = u.lane`;

export const undoFrom = (row: UndoRow): Undo => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  number: row.number,
  kind: row.kind,
  to: row.leads_to,
  consolidations: JSON.parse(row.consolidations),
  undos: JSON.parse(row.undos),
  memories: row.memories,
  at: row.at,
});

export const undoColumns = ({ owner: _, to, consolidations, undos, ...undo }: Undo, tenant: TenantId) => ({
  ...undo,
  tenant,
  leads_to: to,
  consolidations: JSON.stringify(consolidations),
  undos: JSON.stringify(undos),
});

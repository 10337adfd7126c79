import { type Ledger, type Owner, ownerBitsIn, ownerBitsOf, type TenantId, type Tools } from '@slowwave/engine';
import type { Config } from '../config/index.ts';

/** As the shell of HTTP apps asks. */
interface CellGuard {
  ofOwner(tenant: string, owner: Owner): Promise<MovedTo | null>;
  ofId(tenant: string, id: string): Promise<MovedTo | null>;
}

interface MovedTo {
  readonly cell: string | null;
  readonly epoch: number;
}

interface Knowing {
  readonly ledger: Pick<Ledger, 'departures'>;
  readonly tools: Pick<Tools, 'hash'>;
}

/** What a cell knows of owners that are in others; null: it is no cell, and nobody asks. */
export function cellGuard(
  { cell }: Pick<Config, 'cell'>,
  { ledger: { departures }, tools }: Knowing,
): CellGuard | null {
  if (cell === null) return null;
  return {
    ofOwner: async (name, owner) => {
      const tenant = name as TenantId;
      return departures.whereIs(tenant, owner, ownerBitsOf(tools, { tenant, owner }));
    },
    ofId: async (tenant, id) => {
      const bits = ownerBitsIn(id);
      const away = bits === null ? [] : await departures.withBits(tenant as TenantId, bits);
      return away[0]?.to ?? null;
    },
  };
}

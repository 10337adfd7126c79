import { type Ledger, type Owner, ownerBitsIn, ownerBitsOf, type TenantId, type Tools } from '@slowwave/engine';
import type { Config } from '../config/index.ts';

/** As the shell of HTTP apps asks. */
interface CellGuard {
  isLost(): Promise<boolean>;
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

/** How long a process believes that its cell is not lost. */
const LOST_KEPT_MS = 500;

/** What a cell knows of owners that are in others; null: it is no cell, and nobody asks. */
export function cellGuard(
  { cell }: Pick<Config, 'cell'>,
  { ledger: { departures }, tools }: Knowing,
): CellGuard | null {
  if (cell === null) return null;
  let [isLost, askAgainAt] = [false, 0];
  return {
    // Once it is, it stays so.
    isLost: async () => {
      if (isLost || performance.now() < askAgainAt) return isLost;
      askAgainAt = performance.now() + LOST_KEPT_MS;
      isLost = (await departures.givenUpAt()) !== null;
      return isLost;
    },
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

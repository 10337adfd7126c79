import { setTimeout as sleep } from 'node:timers/promises';
import { type AskCell, httpShares } from '@slowwave/adapters/cells';
import type { Log, Millis, TenantId, Tools } from '@slowwave/engine';
import { type CellDirectory, type DirectoryBook, leaseUntil, renewedFrom, shareOut } from '@slowwave/engine/cells';

interface SharesDeps {
  readonly book: DirectoryBook;
  readonly directory: CellDirectory;
  readonly ask: AskCell;
  readonly log: Log;
  readonly tools: Pick<Tools, 'now'>;
}

/** Divides what tenants may use on a day among cells. */
export interface Shares {
  /**
   * A cell hears what it may use, with a lease that is not about to end, unless something does not answer in time: no request fails for that. Returns
   * from when on to look again.
   */
  ensure(tenant: TenantId, cell: string): Promise<Millis>;
}

export function sharesOf({ directory, ask, log, tools }: Omit<SharesDeps, 'book'>): Shares & {
  /** Divides them again. */
  again(tenant: TenantId, cell: string): Promise<void>;
  wanting(cell: string): Promise<readonly TenantId[]>;
} {
  const cells = httpShares(ask);
  const deps = { directory, cells, tools };
  const running = new Map<TenantId, Promise<void>>();
  /** One after the other: each sees what the one before has changed. */
  const again = (tenant: TenantId, cell: string): Promise<void> => {
    const work = (running.get(tenant) ?? Promise.resolve()).catch(() => {}).then(() => shareOut(deps, tenant, cell));
    running.set(tenant, work);
    const end = (): void => void (running.get(tenant) === work && running.delete(tenant));
    work.then(end, end);
    return work;
  };
  return {
    again,
    wanting: (cell) => cells.wanting(cell),
    ensure: async (tenant, cell) => {
      const told = async (): Promise<Millis> => {
        const until = leaseUntil(tools.now());
        const before = await cells.read(cell, tenant);
        if (before.epoch === 0 || before.until === null || before.until < until) await again(tenant, cell);
        return renewedFrom(until);
      };
      const late = sleep(WAITS_MS, null, { ref: false });
      const work = told().catch((error: unknown) => {
        log.warn({ err: error, tenant, cell }, 'could not send a cell its share of a budget');
        return null;
      });
      return (await Promise.race([work, late])) ?? tools.now() + AGAIN_MS;
    },
  };
}

/** Another cell that hangs holds nobody up for longer. */
const WAITS_MS = 1_000;
const AGAIN_MS = 5_000;

/** How often cells are asked which tenants want more. */
const EVERY_MS = 1_000;

/** Looks for cells that run out while others have something left. `bringUpToDate`: also where nothing of the tenant has come yet. */
export function keepShares(
  { book, log }: Pick<SharesDeps, 'book' | 'log'>,
  shares: ReturnType<typeof sharesOf>,
  bringUpToDate: (tenant: TenantId, cell: string) => Promise<void>,
) {
  const stopping = new AbortController();
  const look = async (cell: string): Promise<void> => {
    for (const tenant of await shares.wanting(cell)) {
      await bringUpToDate(tenant, cell);
      await shares.again(tenant, cell);
    }
  };
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      const ended = await Promise.allSettled(book.cells().map(({ name }) => look(name)));
      for (const end of ended)
        if (end.status === 'rejected') log.debug({ err: end.reason }, 'could not divide budgets among the cells');
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    close: async (): Promise<void> => {
      stopping.abort();
      await looking;
    },
  };
}

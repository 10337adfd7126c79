import type { CellDirectory, ShareCells, ShareOfCell } from '../ports/cells.ts';
import type { Tools } from '../ports/tools.ts';
import { dayOf } from '../text/dates.ts';
import type { TenantId } from '../words.ts';
import { divided, LEAST_SHARE, leaseUntil, type SeenShare } from './shares.ts';

export interface ShareDeps {
  readonly directory: Pick<CellDirectory, 'sharesOf' | 'grantShare' | 'settleShare'>;
  readonly cells: ShareCells;
  readonly tools: Pick<Tools, 'now'>;
}

/**
 * Divides what a tenant may use today among cells once more, by what each of them has used. Any number may do so at once, and be killed
 * anywhere. `cell` is told what it has in any case, with a new lease.
 */
export async function shareOut(deps: ShareDeps, tenant: TenantId, cell: string): Promise<void> {
  const { directory, cells, tools } = deps;
  const day = dayOf(tools.now());
  const kept = await directory.sharesOf(tenant, tools.now());
  const names = [...new Set([...kept.map((one) => one.cell), cell])];
  const views = new Map<string, ShareOfCell>();
  const seen = await Promise.all(
    names.map(async (name): Promise<SeenShare> => {
      const part = kept.find((one) => one.cell === name)?.part ?? 0;
      const view = await cells.read(name, tenant).catch(() => null);
      // Where another day has begun, or has not, what was used on this one is not known.
      if (view?.day !== day) return { cell: name, part, used: null, wants: false };
      views.set(name, view);
      return { cell: name, part, used: view.used, wants: view.wants };
    }),
  );
  const { parts, isLast } = divided(seen);
  const used = seen.reduce((sum, one) => sum + (one.used ?? 0), 0);
  const changes = seen.flatMap((one) => {
    const view = views.get(one.cell);
    const part = parts.get(one.cell) ?? one.part;
    return view === undefined ? [] : [{ ...one, view, by: part - one.part, part }];
  });
  const tell = async ({ cell: name, part, view }: (typeof changes)[number]): Promise<void> => {
    const asked = { cell: name, part, until: leaseUntil(tools.now()), after: view.epoch };
    const told = await directory.grantShare(tenant, asked, tools.now());
    if (told === null) return;
    const elsewhere = Math.max(0, used - view.used);
    const { epoch, part: has } = await cells.tell(name, tenant, {
      ...{ epoch: told.epoch, part: told.part, until: asked.until, day, elsewhere, isLast },
    });
    if (epoch === told.epoch) await directory.settleShare(tenant, { ...told, part: has });
  };
  // First who gives, so that there is something to take.
  const givers = changes.filter(({ by }) => by < -LEAST_SHARE / 2);
  await Promise.allSettled(givers.map(tell));
  const isTold = (one: (typeof changes)[number]): boolean => one.wants || one.cell === cell;
  const ended = await Promise.allSettled(changes.filter((one) => isTold(one) && !givers.includes(one)).map(tell));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

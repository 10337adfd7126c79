import { dayOfTenant, type Purse } from '../models/limits.ts';
import type { CellDirectory, ShareCells, ShareOfCell, ToldShare } from '../ports/cells.ts';
import type { Tools } from '../ports/tools.ts';
import { dayOf } from '../text/dates.ts';
import type { TenantId } from '../words.ts';
import { divided, LEAST_SHARE, leaseUntil, partAt, type SeenShare } from './shares.ts';

interface ShareDeps {
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

/** What a cell says of its share of a tenant's day. */
export async function shareHere(purse: Purse, tenant: TenantId): Promise<ShareOfCell> {
  const { ledger, tools } = purse;
  const now = tools.now();
  const terms = await ledger.settings.terms(tenant);
  const { usedHere, share } = await dayOfTenant(purse, { tenant, terms }, now);
  return {
    ...{ epoch: share?.epoch ?? 0, part: share?.part ?? 1, until: share?.until ?? null },
    ...{ used: Math.min(1, usedHere), day: dayOf(now), wants: share !== null && share.wants !== false },
  };
}

/** A cell is told its share. It keeps what it has used, and does not hear what is older than what it has, or about another day. */
export async function takeShare(purse: Purse, tenant: TenantId, told: ToldShare): Promise<ShareOfCell> {
  const { ledger, tools } = purse;
  const now = tools.now();
  const held = await ledger.shares.held(tenant);
  if (told.day !== dayOf(now) || told.epoch <= (held?.epoch ?? 0)) return shareHere(purse, tenant);
  const before = held === null ? 1 : partAt(held, now);
  const terms = await ledger.settings.terms(tenant);
  const { limits } = await dayOfTenant(purse, { tenant, terms }, now);
  const { epoch, until, day, elsewhere, isLast } = told;
  const taken = { epoch, until, day, limits, elsewhere, isLast, wants: false };
  // From now on nobody is allowed more than that; only then is it known how much was.
  await ledger.shares.take(tenant, { ...taken, part: told.part, wantsAt: told.part });
  const { usedHere } = await dayOfTenant(purse, { tenant, terms }, now);
  const part = Math.max(told.part, Math.min(before, usedHere));
  const wantsAt = isLast ? part : (Math.min(usedHere, part) + Math.max(part, LEAST_SHARE)) / 2;
  await ledger.shares.take(tenant, { ...taken, part, wantsAt });
  return shareHere(purse, tenant);
}

import { LEAST_SHARE, partAt } from '../cells/shares.ts';
import { dayOfTenant, type Purse } from '../models/limits.ts';
import type { ShareOfCell, ToldShare } from '../ports/cells.ts';
import { dayOf } from '../text/dates.ts';
import type { TenantId } from '../words.ts';

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

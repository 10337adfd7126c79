import type { Millis, TenantId } from '@slowwave/engine';
import type { TenantChange, TenantPlace } from '@slowwave/engine/cells';
import { counted, first, firstAs, run, type Script } from '../ledger/script.ts';
import { livingCells, locked, raised } from './layout.ts';
import { isOver } from './moves.ts';

/** `home`: from now on that is its home. */
export function* raiseTenant(tenant: TenantId, home: string | null): Script<TenantPlace> {
  yield* locked();
  const before = yield* firstAs(tenantOf, 'SELECT * FROM tenants WHERE tenant = @tenant', { tenant });
  const epoch = yield* raised();
  const place = {
    ...{ tenant, epoch: (before?.epoch ?? 0) + 1 },
    home: home ?? before?.home ?? (yield* livingCells())[0]?.name ?? '',
  };
  yield* run(UPSERT_TENANT, { ...place, changedAt: epoch });
  return place;
}

export function* beginChange(tenant: TenantId, { id, until }: TenantChange, now: Millis): Script<TenantPlace | null> {
  yield* locked();
  const held = yield* first(SELECT_HELD, { tenant, now });
  if (held !== null) return null;
  yield* run('INSERT INTO changes (id, tenant, until) VALUES (@id, @tenant, @until)', { id, tenant, until });
  return yield* raiseTenant(tenant, null);
}

const SELECT_HELD = `SELECT tenant FROM tenants WHERE tenant = @tenant AND NOT ${isOver('held_until')}`;

export function* endChange(tenant: TenantId, id: string): Script<TenantPlace> {
  yield* run('DELETE FROM changes WHERE id = @id', { id });
  return yield* raiseTenant(tenant, null);
}

export function* holdHome(tenant: TenantId, { until, now }: { until: Millis; now: Millis }): Script<number> {
  yield* raiseTenant(tenant, null);
  yield* run('UPDATE tenants SET held_until = @until WHERE tenant = @tenant', { tenant, until });
  yield* run(`DELETE FROM changes WHERE tenant = @tenant AND ${isOver('until')}`, { tenant, now });
  return yield* counted('SELECT count(*) AS count FROM changes WHERE tenant = @tenant', { tenant });
}

export function* switchHome(
  tenant: TenantId,
  { to, heldUntil, now }: { to: string; heldUntil: Millis; now: Millis },
): Script<boolean> {
  yield* locked();
  const text =
    'UPDATE tenants SET held_until = 0 WHERE tenant = @tenant AND held_until = @heldUntil AND held_until > @now';
  if ((yield* run(text, { tenant, heldUntil, now })) === 0) return false;
  yield* raiseTenant(tenant, to);
  return true;
}

const UPSERT_TENANT = `
  INSERT INTO tenants (tenant, home, epoch, changed_at) VALUES (@tenant, @home, @epoch, @changedAt)
  ON CONFLICT (tenant) DO UPDATE SET home = excluded.home, epoch = excluded.epoch, changed_at = excluded.changed_at`;

export const tenantOf = ({ tenant, home, epoch }: TenantPlace): TenantPlace => ({ tenant, home, epoch });

export const UPSERT_COPY = `
  INSERT INTO copies (tenant, cell, epoch) VALUES (@tenant, @cell, @epoch)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch
  WHERE copies.epoch <= excluded.epoch`;

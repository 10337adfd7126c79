import type { TenantId } from '@slowwave/engine';
import type { TenantPlace } from '@slowwave/engine/cells';
import { firstAs, run, type Script } from '../ledger/script.ts';
import { livingCells, locked, raised } from './layout.ts';

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

const UPSERT_TENANT = `
  INSERT INTO tenants (tenant, home, epoch, changed_at) VALUES (@tenant, @home, @epoch, @changedAt)
  ON CONFLICT (tenant) DO UPDATE SET home = excluded.home, epoch = excluded.epoch, changed_at = excluded.changed_at`;

export const tenantOf = ({ tenant, home, epoch }: TenantPlace): TenantPlace => ({ tenant, home, epoch });

export const UPSERT_COPY = `
  INSERT INTO copies (tenant, cell, epoch, share) VALUES (@tenant, @cell, @epoch, @share)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch, share = excluded.share
  WHERE copies.epoch <= excluded.epoch`;

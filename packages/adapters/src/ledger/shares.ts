import type { HeldShare, ShareStore, TenantId } from '@slowwave/engine';
import { all, first, lookup, read, run, type Script, statement, storeOf, write } from './script.ts';

export const shareStore = storeOf<ShareStore>('shares', {
  held: lookup((tenant) => heldShare(tenant)),
  take: write(function* (tenant, share) {
    yield* run(UPSERT, { tenant, ...share, isLast: Number(share.isLast), wants: Number(share.wants) });
    return (yield* heldShare(tenant)) ?? share;
  }),
  want: statement(function* (tenant, epoch) {
    yield* run('UPDATE tenant_shares SET wants = 1 WHERE tenant = @tenant AND epoch = @epoch', { tenant, epoch });
  }),
  wanting: read(function* (limit) {
    const text = 'SELECT tenant FROM tenant_shares WHERE wants = 1 ORDER BY tenant LIMIT @limit';
    return (yield* all<{ tenant: TenantId }>(text, { limit })).map(({ tenant }) => tenant);
  }),
});

/** What a tenant has in common comes, or one of its owners: its share is with other cells until this one is told. */
export const awaitShare = (tenant: TenantId): Script<number> => run(INSERT_NOTHING, { tenant });

const INSERT_NOTHING = `
  INSERT INTO tenant_shares (tenant, epoch, part, until, day, limits, elsewhere, is_last, wants_at, wants)
  VALUES (@tenant, 0, 0, 0, 0, '', 0, 0, 0, 1) ON CONFLICT (tenant) DO NOTHING`;

interface ShareRow {
  readonly epoch: number;
  readonly part: number;
  readonly until: number;
  readonly day: number;
  readonly limits: string;
  readonly elsewhere: number;
  readonly is_last: number;
  readonly wants_at: number;
  readonly wants: number;
}

function* heldShare(tenant: TenantId): Script<HeldShare | null> {
  return shareFrom(yield* first<ShareRow>('SELECT * FROM tenant_shares WHERE tenant = @tenant', { tenant }));
}

const shareFrom = (row: ShareRow | null): HeldShare | null =>
  row && {
    ...{ epoch: row.epoch, part: row.part, until: row.until, day: row.day, limits: row.limits },
    ...{ elsewhere: row.elsewhere, isLast: row.is_last === 1, wantsAt: row.wants_at, wants: row.wants === 1 },
  };

const UPSERT = `
  INSERT INTO tenant_shares (tenant, epoch, part, until, day, limits, elsewhere, is_last, wants_at, wants)
  VALUES (@tenant, @epoch, @part, @until, @day, @limits, @elsewhere, @isLast, @wantsAt, @wants)
  ON CONFLICT (tenant) DO UPDATE SET
    epoch = excluded.epoch, part = excluded.part, until = excluded.until, day = excluded.day, limits = excluded.limits,
    elsewhere = excluded.elsewhere, is_last = excluded.is_last, wants_at = excluded.wants_at, wants = excluded.wants
  WHERE tenant_shares.epoch <= excluded.epoch`;

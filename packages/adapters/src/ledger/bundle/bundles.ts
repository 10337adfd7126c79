import type { BundledErasure, BundledOwner, BundleStore } from '@slowwave/engine';
import { type OwnerColumns, ownerFrom } from '../rows/columns.ts';
import { hasOwner } from '../schema.ts';
import { allAs, audit, insert, lookup, read, storeOf, write } from '../script.ts';
import { linesOf } from './read.ts';
import { arrivingOf, begin, findImport, finish, take } from './take.ts';

export const bundleStore = storeOf<BundleStore>('bundles', {
  owners: read((tenant, after, limit) => allAs(ownerOf, SELECT_OWNERS, { tenant, after: after ?? '', limit })),
  // It looks through much at its beginning and its end.
  lines: audit(linesOf),
  erasures: read((tenant, after, limit) => allAs(erasureOf, SELECT_ERASURES, { tenant, after: after ?? '', limit })),
  takeErasures: write((tenant, erasures) =>
    insert(
      'erasures',
      erasures.map(({ id, ownerHash, requestedAt, erasedAt }) => ({
        ...{ id, tenant, owner_kind: null, owner_id: null, owner_hash: ownerHash, lane: null, state: 'erased' },
        ...{ counts: '{}', remains: '[]', requested_at: requestedAt, erased_at: erasedAt },
      })),
      'ON CONFLICT (id) DO NOTHING',
    ),
  ),
  begin: write(begin),
  take: write(take),
  finish: write(finish),
  arriving: read(arrivingOf),
  find: lookup(findImport),
});

const SELECT_OWNERS = `
  SELECT id AS lane, owner_kind, owner_id FROM lanes
  WHERE tenant = @tenant AND ${hasOwner('lanes')} AND id > @after ORDER BY id LIMIT @limit`;

const ownerOf = (row: OwnerColumns & Pick<BundledOwner, 'lane'>): BundledOwner => ({
  lane: row.lane,
  owner: ownerFrom(row),
});

const SELECT_ERASURES = `
  SELECT id, owner_hash, requested_at, erased_at FROM erasures
  WHERE tenant = @tenant AND erased_at IS NOT NULL AND id > @after ORDER BY id LIMIT @limit`;

interface ErasureRow {
  readonly id: string;
  readonly owner_hash: string;
  readonly requested_at: number;
  readonly erased_at: number;
}

const erasureOf = (row: ErasureRow): BundledErasure => ({
  id: row.id,
  ownerHash: row.owner_hash,
  requestedAt: row.requested_at,
  erasedAt: row.erased_at,
});

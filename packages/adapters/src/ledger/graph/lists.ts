import type { Around, Entity, KeptRelation, Owner, Page, Paged, TenantId } from '@slowwave/engine';
import { pageOf, readCursor } from '../cursor.ts';
import type { OwnerColumns } from '../rows/scope.ts';
import { heldAt } from './around.ts';
import type { ShownRelation } from './reads.ts';
import { type EntityRow, entityFrom, relationFrom, SELECT_ENTITIES, SELECT_RELATIONS, SHOWN } from './rows.ts';
import { all, type Script } from './script.ts';

interface Listing<Filter> {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly filter: Filter;
  readonly page: Page;
}

/** By name. */
export function* listEntities(listing: Listing<{ like?: string }>): Script<Paged<Entity>> {
  const { tenant, owner, filter, page } = listing;
  const { like = '' } = filter;
  const after = readCursor(page.cursor, ['string', 'string']);
  const conditions = [
    ...[OWNED, SHOWN, ...(like === '' ? [] : [LIKE])],
    ...(after === null ? [] : ['(e.name_key, e.id) > (@afterName, @afterId)']),
  ];
  const text = `${SELECT_ENTITIES} WHERE ${conditions.join(' AND ')} ORDER BY e.name_key, e.id LIMIT @limit`;
  const params = {
    ...{ tenant, kind: owner.kind, ownerId: owner.id, limit: page.limit + 1 },
    ...(like === '' ? {} : { like }),
    ...(after === null ? {} : { afterName: after[0] ?? '', afterId: after[1] ?? '' }),
  };
  const rows = yield* all<EntityRow & OwnerColumns & { readonly name_key: string }>(text, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.name_key, row.id]);
  return { results: results.map(entityFrom), nextCursor };
}

/** Those that began first come first. */
export function* listRelations(
  listing: Listing<{ at: Around['at']; relationship?: string }>,
): Script<Paged<KeptRelation>> {
  const { tenant, owner, filter, page } = listing;
  const { at, relationship } = filter;
  const after = readCursor(page.cursor, ['number', 'string']);
  const holds = heldAt(at);
  const conditions = [
    ...[OWNED, 'r.counts = 1', ...(holds === null ? [] : [holds])],
    ...(relationship === undefined ? [] : ['r.relationship = @relationship']),
    ...(after === null ? [] : ['(r.valid_from, r.id) > (@afterTime, @afterId)']),
  ];
  const text = `${SELECT_RELATIONS} WHERE ${conditions.join(' AND ')} ORDER BY r.valid_from, r.id LIMIT @limit`;
  const params = {
    ...{ tenant, kind: owner.kind, ownerId: owner.id, limit: page.limit + 1 },
    ...(typeof at === 'number' ? { at } : {}),
    ...(relationship === undefined ? {} : { relationship }),
    ...(after === null ? {} : { afterTime: after[0] ?? 0, afterId: after[1] ?? '' }),
  };
  const rows = yield* all<ShownRelation>(text, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.valid_from, row.id]);
  return { results: results.map(relationFrom), nextCursor };
}

const OWNED = 'l.tenant = @tenant AND l.owner_kind = @kind AND l.owner_id = @ownerId';

/** As plain text: what is looked for has no signs of its own. */
const LIKE = `EXISTS (
  SELECT 1 FROM graph_names n WHERE n.entity = e.id AND replace(n.name, @like, '') <> n.name)`;

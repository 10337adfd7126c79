import type { Around, Entity, KeptRelation, Owner, Page, Paged, TenantId } from '@slowwave/engine';
import { asRead } from '../access.ts';
import { pageOf, readCursor } from '../page.ts';
import type { OwnerColumns } from '../rows/scope.ts';
import { all, type Script } from '../script.ts';
import { heldAt } from './around.ts';
import {
  type EntityRow,
  entityFrom,
  OWN_LANE,
  ownerParams,
  type RelationRow,
  SELECT_ENTITIES,
  SHOWN,
  shownRelations,
} from './rows.ts';

interface Listing<Filter> {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly filter: Filter;
  readonly page: Page;
}

interface Named {
  readonly like?: string;
}

/** By name. */
export const listEntities = asRead('graph.listEntities', function* (of: Listing<Named>): Script<Paged<Entity>> {
  const { tenant, owner, filter, page } = of;
  const { like = '' } = filter;
  const after = readCursor(page.cursor, ['string', 'string']);
  const conditions = [
    ...[`e.lane = ${OWN_LANE}`, SHOWN, ...(like === '' ? [] : [LIKE])],
    ...(after === null ? [] : ['(e.name_key, e.id) > (@afterName, @afterId)']),
  ];
  const text = `${SELECT_ENTITIES} WHERE ${conditions.join(' AND ')} ORDER BY e.name_key, e.id LIMIT @limit`;
  const params = {
    ...{ ...ownerParams(tenant, owner), limit: page.limit + 1 },
    ...(like === '' ? {} : { like }),
    ...(after === null ? {} : { afterName: after[0] ?? '', afterId: after[1] ?? '' }),
  };
  const rows = yield* all<EntityRow & OwnerColumns & { readonly name_key: string }>(text, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.name_key, row.id]);
  return { results: results.map(entityFrom), nextCursor };
});

interface Held {
  readonly at: Around['at'];
  readonly relationship?: string;
}

/** Those that began first come first. */
export const listRelations = asRead('graph.listRelations', function* (of: Listing<Held>): Script<Paged<KeptRelation>> {
  const { tenant, owner, filter, page } = of;
  const { at, relationship } = filter;
  const after = readCursor(page.cursor, ['number', 'string']);
  const holds = heldAt(at);
  const conditions = [
    ...[`r.lane = ${OWN_LANE}`, 'r.counts = 1', ...(holds === null ? [] : [holds])],
    ...(relationship === undefined ? [] : ['r.relationship = @relationship']),
    ...(after === null ? [] : ['(r.valid_from, r.id) > (@afterTime, @afterId)']),
  ];
  const text = `SELECT r.id, r.valid_from FROM graph_relations r WHERE ${conditions.join(' AND ')} ORDER BY r.valid_from, r.id LIMIT @limit`;
  const params = {
    ...{ ...ownerParams(tenant, owner), limit: page.limit + 1 },
    ...(typeof at === 'number' ? { at } : {}),
    ...(relationship === undefined ? {} : { relationship }),
    ...(after === null ? {} : { afterTime: after[0] ?? 0, afterId: after[1] ?? '' }),
  };
  const rows = yield* all<Pick<RelationRow, 'id' | 'valid_from'>>(text, params);
  const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.valid_from, row.id]);
  return { results: yield* shownRelations(results.map(({ id }) => id)), nextCursor };
});

/** As plain text: what is looked for has no signs of its own. */
const LIKE = `EXISTS (
  SELECT 1 FROM graph_names n WHERE n.entity = e.id AND replace(n.name, @like, '') <> n.name)`;

import type {
  Around,
  Entity,
  GraphItem,
  GraphStore,
  KeptRelation,
  Proposed,
  SaidApart,
  TenantId,
} from '@slowwave/engine';
import { inOrder, openProposals } from '@slowwave/engine/storing';
import { inSlices, pageOf, type Refilled, readCursor, type SliceAfter } from '../page.ts';
import type { OwnerColumns } from '../rows/columns.ts';
import {
  type Access,
  all,
  allAs,
  counted,
  fewAtOnce,
  firstAs,
  read,
  type Script,
  snapshot,
  storeOf,
  together,
  write,
} from '../script.ts';
import { mergedInto } from './refold.ts';
import {
  type EntityRow,
  entityFrom,
  everyOfGraph,
  noteProjected,
  OWN_LANE,
  ownerParams,
  type RelationRow,
  refillGraph,
  SELECT_ENTITIES,
  SHOWN,
  type StatementRow,
  shownRelations,
  statementFrom,
  unprojectedGraph,
} from './rows.ts';
import * as studies from './studies.ts';
import { writeGraph } from './studies.ts';

/** `around`: what each ledger looks around with. */
export function graphStore(access: Access, around: (access: Access) => AroundStore): GraphStore {
  const { refillGraph, ...store } = scripted(access);
  return {
    ...studies.studyStore(access),
    ...around(access),
    ...store,
    refill: async () => {
      const entities = await inSlices((slice) => refillGraph('entity', slice));
      return entities + (await inSlices((slice) => refillGraph('relation', slice)));
    },
  };
}

interface GraphScripts extends Omit<GraphStore, keyof studies.StudyStore | 'around' | 'refill'> {
  refillGraph: (kind: GraphItem['kind'], slice: SliceAfter) => Promise<Refilled>;
}

const scripted = storeOf<GraphScripts>('graph', {
  refillGraph: write(refillGraph),
  write: write(writeGraph),
  writtenAfter: read((lane, after) => counted(COUNT_WRITTEN, { lane, after })),
  entities: read(entitiesOf),
  named: read((lane, names) => allAs(entityFrom, SELECT_NAMED, { lane, names })),
  self: read((lane) => firstAs(entityFrom, `${SELECT_ENTITIES} WHERE e.lane = @lane AND e.self = 1`, { lane })),
  /** By name. */
  listEntities: read(function* (...[tenant, owner, { like = '' }, page]) {
    const after = readCursor(page.cursor, ['string', 'string']);
    const conditions = [
      ...[`e.lane = ${OWN_LANE}`, SHOWN, ...(like === '' ? [] : [LIKE])],
      ...(after === null ? [] : ['(e.name_key, e.id) > (@afterName, @afterId)']),
    ];
    const text = `${SELECT_ENTITIES} WHERE ${conditions.join(' AND ')} ORDER BY e.name_key, e.id LIMIT @limit`;
    const rows = yield* all<OwnedEntity & { readonly name_key: string }>(text, {
      ...ownerParams(tenant, owner),
      limit: page.limit + 1,
      like,
      ...(after !== null && { afterName: after[0] ?? '', afterId: after[1] ?? '' }),
    });
    const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.name_key, row.id]);
    return { results: results.map(entityFrom), nextCursor };
  }),
  relation: read(function* (tenant, id) {
    const [relation] = yield* shownRelations([id]);
    return relation?.tenant === tenant ? relation : null;
  }),
  relations: read(function* (tenant, ids) {
    return (yield* shownRelations([...new Set(ids)])).filter((relation) => relation.tenant === tenant);
  }),
  /** Those that began first come first. */
  listRelations: read(function* (...[tenant, owner, { at, relationship }, page]) {
    const after = readCursor(page.cursor, ['number', 'string']);
    const holds = heldAt(at);
    const conditions = [
      ...[`r.lane = ${OWN_LANE}`, 'r.counts = 1', ...(holds === null ? [] : [holds])],
      ...(relationship === undefined ? [] : ['r.relationship = @relationship']),
      ...(after === null ? [] : ['(r.valid_from, r.id) > (@afterTime, @afterId)']),
    ];
    const text = `SELECT r.id, r.valid_from FROM graph_relations r WHERE ${conditions.join(' AND ')} ORDER BY r.valid_from, r.id LIMIT @limit`;
    const rows = yield* all<Pick<RelationRow, 'id' | 'valid_from'>>(text, {
      ...ownerParams(tenant, owner),
      limit: page.limit + 1,
      ...(typeof at === 'number' && { at }),
      ...(relationship !== undefined && { relationship }),
      ...(after !== null && { afterTime: after[0] ?? 0, afterId: after[1] ?? '' }),
    });
    const { results, nextCursor } = pageOf(rows, page.limit, (row) => [row.valid_from, row.id]);
    return { results: yield* shownRelations(results.map(({ id }) => id)), nextCursor };
  }),
  /** All that name these entities or what was merged into them, in the order they were said. */
  statements: snapshot(function* (lane, { entities }) {
    const merged = yield* mergedInto(lane, entities);
    const ids = [...entities, ...merged.map(({ id }) => id)];
    const rows = yield* all<StatementRow>(SELECT_ABOUT, { lane, ids });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return inOrder([...byId.values()].map(statementFrom)).map((statement) => ({
      statement,
      counts: byId.get(statement.id)?.counts === 1,
    }));
  }),
  proposals: snapshot(function* (tenant, owner) {
    const given = ownerParams(tenant, owner);
    const proposed = yield* all<Proposed>(SELECT_PROPOSED, given);
    if (proposed.length === 0) return [];
    const apart = yield* all<SaidApart>(SELECT_APART, given);
    const ids = [...new Set(proposed.flatMap((one) => [one.source, one.destination]))];
    const asked = yield* entitiesOf(tenant, ids);
    const ends = yield* entitiesOf(tenant, [...new Set(asked.flatMap(({ mergedInto: end }) => end ?? []))]);
    return openProposals(proposed, apart, new Map([...asked, ...ends].map((entity) => [entity.id, entity])));
  }),
  unprojected: fewAtOnce((limit) => unprojectedGraph(null, limit)),
  unprojectedOf: snapshot(unprojectedGraph),
  projected: write(noteProjected),
  every: snapshot(everyOfGraph),
});

type OwnedEntity = EntityRow & OwnerColumns;

function entitiesOf(tenant: TenantId, ids: readonly string[]): Script<readonly Entity[]> {
  return allAs(entityFrom, `${SELECT_ENTITIES} WHERE e.tenant = @tenant AND e.id IN :ids`, { tenant, ids });
}

const SELECT_NAMED = `
  ${SELECT_ENTITIES}
  WHERE e.id IN (SELECT n.entity FROM graph_names n WHERE n.lane = @lane AND n.name IN :names)
    AND e.lane = @lane AND ${SHOWN} ORDER BY e.id`;

const SELECT_ABOUT = `
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND source IN :ids AND fallen = 0
  UNION ALL
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND destination IN :ids AND fallen = 0`;

const SELECT_PROPOSED = `
  SELECT p.source, p.destination, p.likeness, p.recorded_at AS "recordedAt" FROM graph_proposals p
  JOIN consolidations c ON c.id = p.consolidation_id AND c.state = 'applied' WHERE p.lane = ${OWN_LANE}`;

/** By the index of what merges. */
const SELECT_APART = `
  SELECT source, recorded_at AS "recordedAt" FROM graph_statements
  WHERE lane = ${OWN_LANE} AND kind IN ('same', 'apart') AND kind = 'apart' AND counts = 1`;

const COUNT_WRITTEN = `
  SELECT count(*) AS count FROM graph_statements
  WHERE lane = @lane AND consolidation_id IS NULL AND counts = 1 AND recorded_at > @after`;

/** As plain text: what is looked for has no signs of its own. */
const LIKE = `EXISTS (
  SELECT 1 FROM graph_names n WHERE n.entity = e.id AND replace(n.name, @like, '') <> n.name)`;

/** Enough to know which relations come first. */
interface Weighed {
  readonly id: string;
  readonly confirmations: number;
  readonly said_at: number;
  readonly said_seq: number;
}

export type AroundStore = Pick<GraphStore, 'around'>;

/** One statement for each entity and end: for a ledger that is asked without waiting. */
export const aroundEach = storeOf<AroundStore>('graph.each', {
  around: snapshot(function* (lane, { entities, at, limit }) {
    const given = { lane, limit, ...(typeof at === 'number' ? { at } : {}) };
    const found = yield* together(
      ...[...new Set(entities)].flatMap((entity) =>
        ENDS.map((end) => all<Weighed>(weighed(end, '@entity', at), { ...given, entity })),
      ),
    );
    return yield* heaviest(found.flat(), limit);
  }),
});

/** One statement for all: for a ledger whose every answer is waited for. */
export const aroundAtOnce = storeOf<AroundStore>('graph.atOnce', {
  around: snapshot(function* (lane, { entities, at, limit }) {
    const given = { lane, limit, entities: [...new Set(entities)], ...(typeof at === 'number' ? { at } : {}) };
    const found = ENDS.map(
      (end) => `SELECT w.* FROM unnest(@entities::text[]) AS e (id)
        CROSS JOIN LATERAL (${weighed(end, 'e.id', at)}) AS w`,
    ).join(' UNION ALL ');
    // A relation between two of them is found at both ends.
    const text = `SELECT * FROM (${found}) AS f ${BY_WEIGHT} LIMIT 2 * @limit::bigint`;
    return yield* heaviest(yield* all<Weighed>(text, given), limit);
  }),
});

/** Whether a relation `r` holds at a moment. */
function heldAt(at: Around['at']): string | null {
  if (at === 'ever') return null;
  return at === null ? 'r.invalid_at IS NULL' : 'r.valid_from <= @at AND (r.invalid_at IS NULL OR r.invalid_at > @at)';
}

const ENDS = ['source', 'destination'] as const;

/** The first of one entity, by the index of that end. */
const weighed = (end: (typeof ENDS)[number], entity: string, at: Around['at']): string => `
  SELECT r.id, r.confirmations, r.said_at, r.said_seq FROM graph_relations r
  WHERE r.lane = @lane AND r.${end} = ${entity} AND r.counts = 1 AND ${heldAt(at) ?? 'true'}
  ${BY_WEIGHT} LIMIT @limit`;

const BY_WEIGHT = 'ORDER BY confirmations DESC, said_at DESC, said_seq DESC, id';

function* heaviest(found: readonly Weighed[], limit: number): Script<readonly KeptRelation[]> {
  const each = new Map(found.map((one) => [one.id, one]));
  const ids = [...each.values()]
    .sort(byWeight)
    .slice(0, limit)
    .map(({ id }) => id);
  return yield* shownRelations(ids);
}

const byWeight = (a: Weighed, b: Weighed): number =>
  b.confirmations - a.confirmations || b.said_at - a.said_at || b.said_seq - a.said_seq || (a.id < b.id ? -1 : 1);

import type {
  Entity,
  FoldedRelation,
  GraphItem,
  KeptRelation,
  LaneId,
  Owner,
  ProjectedItem,
  Statement,
  TenantId,
} from '@slowwave/engine';
import type { Refilled, SliceAfter } from '../page.ts';
import { type ColumnsOf, type OwnerColumns, ownerFrom } from '../rows/columns.ts';
import { all, allAs, idsOf, run, type Script, together, type Value } from '../script.ts';
import { notAside } from '../speech.ts';

export type EntityRow = ColumnsOf<Omit<Entity, 'owner'>, 'aliases'>;

/** The entity of a lane's owner. */
export const SELECT_SELF = 'SELECT id FROM graph_entities WHERE lane = @lane AND self = 1';

/** Entities of owners that are not being erased, with their owner's columns; add a WHERE on `e`. */
export const SELECT_ENTITIES = `
  SELECT e.*, l.owner_kind, l.owner_id FROM graph_entities e JOIN lanes l ON l.id = e.lane AND l.erasure IS NULL`;

/** The lane of an owner. */
export const OWN_LANE = `
  (SELECT id FROM lanes WHERE tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId AND erasure IS NULL)`;

export const ownerParams = (tenant: TenantId, owner: Owner) => ({ tenant, kind: owner.kind, ownerId: owner.id });

/** An entity that is shown. */
export const SHOWN = 'e.counts = 1 AND e.merged_into IS NULL';

export const entityFrom = (row: EntityRow & OwnerColumns): Entity => ({
  id: row.id,
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  name: row.name,
  kind: row.kind,
  self: row.self === 1,
  aliases: JSON.parse(row.aliases),
  mergedInto: row.merged_into,
  counts: row.counts === 1,
  revision: row.revision,
  createdAt: row.created_at,
});

export interface RelationRow
  extends ColumnsOf<Omit<FoldedRelation, 'saidAt'>, 'messageIds' | 'memoryIds' | 'quote'>,
    ColumnsOf<Pick<KeptRelation, 'tenant' | 'lane'>> {
  readonly said_at: number;
  readonly said_seq: number;
}

interface NamesOfEnds extends OwnerColumns {
  readonly source_name: string;
  readonly destination_name: string;
}

/** Relations of owners that are not being erased, with what is shown beside; add a WHERE on `r` that names few. */
const SELECT_RELATIONS = `
  SELECT r.*, s.name AS source_name, d.name AS destination_name, l.owner_kind, l.owner_id
  FROM graph_relations r JOIN lanes l ON l.id = r.lane AND l.erasure IS NULL
  JOIN graph_entities s ON s.id = r.source JOIN graph_entities d ON d.id = r.destination`;

/** These relations, in their order. Whoever looks for them looks for ids first: what is shown beside is joined to few rows. */
export function* shownRelations(ids: readonly string[]): Script<readonly KeptRelation[]> {
  if (ids.length === 0) return [];
  const rows = yield* all<RelationRow & NamesOfEnds>(`${SELECT_RELATIONS} WHERE r.id IN :ids`, { ids });
  const byId = new Map(rows.map((row) => [row.id, relationFrom(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export const foldedFrom = (row: RelationRow): FoldedRelation => ({
  id: row.id,
  source: row.source,
  relationship: row.relationship,
  destination: row.destination,
  validFrom: row.valid_from,
  invalidAt: row.invalid_at,
  endedBy: row.ended_by,
  saidAt: { at: row.said_at, seq: row.said_seq },
  confirmations: row.confirmations,
  messageIds: JSON.parse(row.message_ids),
  memoryIds: JSON.parse(row.memory_ids),
  quote: row.quote === null ? null : JSON.parse(row.quote),
  revision: row.revision,
  counts: row.counts === 1,
  recordedAt: row.recorded_at,
  updatedAt: row.updated_at,
});

const relationFrom = (row: RelationRow & NamesOfEnds): KeptRelation => ({
  ...foldedFrom(row),
  tenant: row.tenant,
  lane: row.lane,
  owner: ownerFrom(row),
  sourceName: row.source_name,
  destinationName: row.destination_name,
});

export const relationColumns = (relation: FoldedRelation): Readonly<Record<keyof RelationColumns, Value>> => ({
  id: relation.id,
  source: relation.source,
  relationship: relation.relationship,
  destination: relation.destination,
  valid_from: relation.validFrom,
  invalid_at: relation.invalidAt,
  ended_by: relation.endedBy,
  said_at: relation.saidAt.at,
  said_seq: relation.saidAt.seq,
  confirmations: relation.confirmations,
  message_ids: JSON.stringify(relation.messageIds),
  memory_ids: JSON.stringify(relation.memoryIds),
  // As JSON: a row travels as JSON, in which SQLite would end a text at a character of zero.
  quote: relation.quote === null ? null : JSON.stringify(relation.quote),
  revision: relation.revision,
  counts: relation.counts ? 1 : 0,
  recorded_at: relation.recordedAt,
  updated_at: relation.updatedAt,
});

type RelationColumns = Omit<RelationRow, 'tenant' | 'lane'>;

export interface StatementRow {
  readonly id: string;
  readonly statement: string;
  readonly counts: 0 | 1;
}

export const statementFrom = ({ statement }: Pick<StatementRow, 'statement'>): Statement => JSON.parse(statement);

type Kind = GraphItem['kind'];

interface UnprojectedRow {
  readonly id: string;
  readonly unprojected_at: number;
}

/** Oldest change first. Of all lanes: without those that are set aside. */
export function* unprojectedGraph(lane: LaneId | null, limit: number): Script<readonly GraphItem[]> {
  const given = { limit, ...(lane === null ? {} : { lane }) };
  const [entities, relations] = yield* together(
    all<UnprojectedRow>(unprojectedText('entity', lane), given),
    all<UnprojectedRow>(unprojectedText('relation', lane), given),
  );
  const rows = [...entities, ...relations].sort(
    (a, b) => a.unprojected_at - b.unprojected_at || (a.id < b.id ? -1 : 1),
  );
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const first = new Set(ids);
  const among = (found: readonly UnprojectedRow[]): string[] => found.map(({ id }) => id).filter((id) => first.has(id));
  const shown = yield* together(itemsOf('entity', among(entities)), itemsOf('relation', among(relations)));
  const byId = new Map(shown.flat().map((one) => [one.kind === 'entity' ? one.entity.id : one.relation.id, one]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function* itemsOf(kind: Kind, ids: readonly string[]): Script<readonly GraphItem[]> {
  if (ids.length === 0) return [];
  if (kind === 'relation') return (yield* shownRelations(ids)).map((relation) => ({ kind, relation }));
  const entities = yield* allAs(entityFrom, `${SELECT_ENTITIES} WHERE e.id IN :ids ORDER BY e.id`, { ids });
  return entities.map((entity) => ({ kind, entity }));
}

/** What has changed since stays unprojected. In one order, whoever does it: two that wait for each other would be one too many. */
export function* noteProjected(of: readonly ProjectedItem[]): Script<void> {
  const projected = of.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  yield* together(
    ...projected.map(({ kind, id, revision }) =>
      run(`UPDATE ${TABLES[kind]} SET unprojected_at = NULL WHERE id = @id AND revision = @revision`, { id, revision }),
    ),
  );
}

/** A slice of what counts is unprojected again, under a new revision: what is projected to the lost index meanwhile is projected again. */
export function* refillGraph(kind: Kind, { after, limit }: SliceAfter): Script<Refilled> {
  const ids = yield* idsOf(everyId(kind), { after, limit });
  const again = `UPDATE ${TABLES[kind]} SET unprojected_at = coalesce(unprojected_at, 0), revision = revision + 1 WHERE id IN :ids`;
  if (ids.length > 0) yield* run(again, { ids });
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

/** What counts and stands for itself, in the order of ids. */
export function* everyOfGraph(kind: Kind, after: string | null, limit: number): Script<readonly GraphItem[]> {
  return yield* itemsOf(kind, yield* idsOf(everyId(kind), { after: after ?? '', limit }));
}

const TABLES: Readonly<Record<Kind, string>> = { entity: 'graph_entities', relation: 'graph_relations' };

function countText(kind: Kind): string {
  return `SELECT count(*) ${fromUnprojected(kind)}`;
}

function fromUnprojected(kind: Kind): string {
  return `FROM ${TABLES[kind]} x JOIN lanes l ON l.id = x.lane AND l.erasure IS NULL WHERE x.unprojected_at IS NOT NULL`;
}

const unprojectedText = (kind: Kind, lane: LaneId | null): string => `
  SELECT x.id, x.unprojected_at ${fromUnprojected(kind)} AND ${lane === null ? notAside('x.lane') : 'x.lane = @lane'} ORDER BY x.unprojected_at, x.id LIMIT @limit`;

/** How much of the graph is still to be projected. */
export const COUNT_UNPROJECTED_GRAPH = `
  SELECT (${countText('entity')}) + (${countText('relation')}) AS count`;

const everyId = (kind: Kind): string => {
  const [x, shown] = kind === 'entity' ? ['e', SHOWN] : ['r', 'r.counts = 1'];
  return `
    SELECT ${x}.id FROM ${TABLES[kind]} ${x} JOIN lanes l ON l.id = ${x}.lane AND l.erasure IS NULL
    WHERE ${x}.id > @after AND ${shown} ORDER BY ${x}.id LIMIT @limit`;
};

import type { Filter, IndexQuery } from '@slowwave/engine';
import { visible } from '@slowwave/engine/storing';
import { sqliteDialect } from '../../filter-sql/sqlite.ts';
import { translate } from '../../filter-sql/translate.ts';
import type { Sql } from '../ledger/sql.ts';
import { cosinesOf, type Legs, legsOf, type Seen } from './legs.ts';
import type { Sight } from './many.ts';
import type { OwnerRow, OwnerTable } from './owners.ts';
import type { FoundPoint } from './protocol.ts';
import { type IdPart, idWords } from './record.ts';
import { byMemory, type StoredPoint } from './stored-point.ts';
import { SLOTS } from './tables.ts';

/**
 * The points either leg found, by memory id and version, each scored in both; with only their payloads and the vectors that are
 * compared read from the file.
 */
export function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const legs = legsFor(table, query, fittingSlots(sql, table.owner, query));
  const { vector, terms } = query;
  const vectorScores = new Map(vector === null ? [] : legs.nearest({ ...query, vector }, vectorsOf));
  const also = new Set(vectorScores.keys());
  const keywordScores = new Map(terms === null ? [] : legs.byWords({ ...query, terms, also }));
  const byWords = [...keywordScores.keys()].filter((point) => !also.has(point));
  if (vector !== null)
    for (const [point, score] of cosinesOf(byWords, vector, vectorsOf)) vectorScores.set(point, score);
  const found = [...new Set([...vectorScores.keys(), ...keywordScores.keys()])].sort(byMemory);
  const payloads = payloadsOf(sql, table.owner, found);
  return found.flatMap((point) => {
    const payload = payloads.get(point.slot);
    if (payload === undefined) return [];
    const vectorScore = vectorScores.get(point) ?? null;
    return [{ payload, vectorScore, keywordScore: keywordScores.get(point) ?? null }];
  });
}

const vectorsOf = (points: Seen): Map<StoredPoint, Float32Array> =>
  new Map(points.map((point) => [point, point.vector]));

/** What the file shows of these points, by their slots. */
function payloadsOf(sql: Sql, { number }: OwnerRow, of: Seen): Map<number, string> {
  const text = `SELECT row, payload FROM details WHERE row IN (SELECT value FROM json_each(@rows))`;
  const rows = JSON.stringify(of.map(({ slot }) => number * SLOTS + slot));
  const stored = sql.all<{ row: number; payload: string }>(text, { rows });
  return new Map(stored.map(({ row, payload }) => [row % SLOTS, payload]));
}

/** Slots of the owner that a filter leaves; null: it leaves all of them. */
type Narrowed = ReadonlySet<number> | null;

function legsFor(table: OwnerTable, query: IndexQuery, narrowed: Narrowed): Legs {
  return table.many?.seen(sightOf(query, narrowed)) ?? legsOf(seenOf(table, query, narrowed));
}

export function seenOf({ segments }: Pick<OwnerTable, 'segments'>, query: IndexQuery, narrowed: Narrowed): Seen {
  const { isSeen } = sightOf(query, narrowed);
  return segments.flatMap(({ points }) => points.filter(isSeen));
}

function sightOf(query: IndexQuery, narrowed: Narrowed): Sight {
  const { visibility } = query;
  const asked = idsOf(query).map(({ part, id }) => ({ part, words: idWords(id) }));
  return {
    visibility,
    narrows: asked.length > 0 || narrowed !== null,
    isSeen: (point) =>
      (visibility.kind === 'told_last' || visible(point, { visibility, filter: {} })) &&
      asked.every(({ part, words }) => point.isOf(part, words)) &&
      (narrowed === null || narrowed.has(point.slot)),
  };
}

/** The ids that a point must have, and in which of its lists. */
function idsOf({ filter, visibility }: IndexQuery): { readonly part: IdPart; readonly id: string }[] {
  const named = (['agentId', 'runId', 'appId'] as const).flatMap((part) => {
    const id = filter[part];
    return id === undefined ? [] : [{ part, id }];
  });
  return visibility.kind === 'told_last' ? [...named, { part: visibility.among, id: visibility.appId }] : named;
}

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
function fittingSlots(sql: Sql, owner: OwnerRow, query: IndexQuery): Narrowed {
  return query.where === null ? null : new Set(slotsWhere(sql, owner, { ...query, where: query.where }));
}

type Filtering = Pick<IndexQuery, 'visibility'> & { readonly where: Filter };

function slotsWhere(sql: Sql, { number }: OwnerRow, { visibility, where }: Filtering): number[] {
  const { condition, params } = translate(where, DIALECT);
  // Most of what an owner has may be former versions: where nobody sees them, nothing of them is read.
  const held = visibility.kind === 'live' ? 'AND live = 1' : '';
  const owned = 'row BETWEEN @firstRow AND @lastRow';
  const text = `SELECT row FROM points JOIN details USING (row) WHERE ${owned} ${held} AND ${condition}`;
  const rows = { firstRow: number * SLOTS, lastRow: (number + 1) * SLOTS - 1 };
  return sql.once<{ row: number }>(text, { ...rows, ...params }).map(({ row }) => row % SLOTS);
}

/** Read from what a hit shows: nobody filters so much that columns of their own would pay. */
const DIALECT = sqliteDialect({
  columns: {
    userId: "(payload ->> '$.scope.userId')",
    memoryId: 'memory_id',
    text: "(payload ->> '$.text')",
    category: "(payload ->> '$.category')",
    immutable: "(payload ->> '$.immutable')",
    flagged: "(payload ->> '$.flagged')",
    trust: "(payload ->> '$.trust')",
    confirmations: "(payload ->> '$.confirmations')",
    createdAt: "(payload ->> '$.createdAt')",
    updatedAt: "(payload ->> '$.updatedAt')",
    saidAt: "(payload ->> '$.saidAt.at')",
    validFrom: "(payload ->> '$.validFrom')",
    expiresAt: "(payload ->> '$.expiresAt')",
  },
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "payload -> '$.metadata'",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  return { rows: `SELECT 1 FROM json_each(payload, '$.ids.${key}') AS i WHERE TRUE`, id: 'i.value' };
}

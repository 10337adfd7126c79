import { setImmediate } from 'node:timers/promises';
import type { IndexHit, IndexQuery, ShownPoint } from '@slowwave/engine';
import { unpackedVector } from '@slowwave/engine/storing';
import { postgresDialect } from '../../filter-sql/postgres.ts';
import { translate } from '../../filter-sql/translate.ts';
import { cosinesOf, keywordLeg, mayBeBest, type Seen, vectorLeg } from '../../sqlite/search-index/legs.ts';
import { seenOf } from '../../sqlite/search-index/search.ts';
import { byMemory, type StoredPoint } from '../../sqlite/search-index/stored-point.ts';
import type { Answer, Ask } from '../ledger/asking.ts';
import { askOf, askOnce, type Sql } from '../ledger/sql.ts';
import type { OwnerTable, ownerCache } from './owners.ts';
import { OWNER_NAMED, ownerKey } from './schema.ts';

/**
 * Answers questions on one snapshot: the server is asked once for what changed of their owners and which points their filters leave,
 * and once for the whole vectors of those points that may be among the best. What is compared, and how, is what the index in a
 * SQLite file does, so that both give the same scores.
 */
export async function search(
  sql: Sql,
  owners: ReturnType<typeof ownerCache>,
  queries: readonly IndexQuery[],
): Promise<readonly (readonly IndexHit[])[]> {
  const leading: Leading[] = [];
  for (const looked of await look(sql, owners, queries)) {
    leading.push(leadingOf(looked));
    await setImmediate(); // between two questions this thread takes in what else there is
  }
  const details = await detailsOf(sql, leading);
  return leading.map((led) => hitsOf(led, details.get(led.table?.number ?? 0) ?? new Map()));
}

/** A question and what it is asked of. */
interface Looked {
  readonly query: IndexQuery;
  /** null: its owner has nothing. */
  readonly table: OwnerTable | null;
  /** Slots of the owner that the question's filter leaves; null: it has none. */
  readonly fitting: ReadonlySet<number> | null;
}

async function look(
  sql: Sql,
  owners: ReturnType<typeof ownerCache>,
  queries: readonly IndexQuery[],
): Promise<readonly Looked[]> {
  const nameOf = (query: IndexQuery): string => JSON.stringify(ownerKey(query));
  const looks = new Map(queries.map((query) => [nameOf(query), owners.look(query)]));
  const filtered = queries.filter(({ where }) => where !== null);
  const answers = await sql.ask([...[...looks.values()].map(({ ask }) => ask), ...filtered.map(askFitting)]);
  const tables = new Map([...looks].map(([name, one], i) => [name, one.tableOf(answers[i] ?? NONE)]));
  const fitting = new Map(filtered.map((query, i) => [query, slotsIn(answers[looks.size + i] ?? NONE)]));
  return queries.map((query) => ({
    query,
    table: tables.get(nameOf(query)) ?? null,
    fitting: fitting.get(query) ?? null,
  }));
}

const NONE: Answer = { rows: [], count: 0 };

const slotsIn = ({ rows }: Answer): Set<number> =>
  new Set((rows as readonly { slot: number }[]).map(({ slot }) => slot));

function askFitting(query: IndexQuery): Ask {
  const { condition, params } = translate(query.where ?? { kind: 'all', of: [] }, DIALECT);
  // Most of what an owner has may be former versions: where nobody sees them, nothing of them is read.
  const held = query.visibility.kind === 'live' ? 'AND p.live = 1' : '';
  const from = `state s JOIN owners o ON ${OWNER_NAMED} JOIN points p ON p.owner = o.number`;
  return askOnce(`SELECT p.slot FROM ${from} WHERE ${condition} ${held}`, { ...ownerKey(query), ...params });
}

const textAt = (path: string): string => `(p.payload #>> '{${path}}')`;
const numberAt = (path: string): string => `${textAt(path)}::double precision`;
const flagAt = (path: string): string => `${textAt(path)}::boolean`;

/** Read from what a hit shows: nobody filters so much that columns of their own would pay. */
const DIALECT = postgresDialect({
  columns: {
    userId: textAt('scope,userId'),
    memoryId: 'p.memory_id',
    text: textAt('text'),
    category: textAt('category'),
    immutable: flagAt('immutable'),
    flagged: flagAt('flagged'),
    trust: textAt('trust'),
    confirmations: numberAt('confirmations'),
    createdAt: numberAt('createdAt'),
    updatedAt: numberAt('updatedAt'),
    saidAt: numberAt('saidAt,at'),
    validFrom: numberAt('validFrom'),
    expiresAt: numberAt('expiresAt'),
  },
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "(p.payload -> 'metadata')",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  const rows = `SELECT 1 FROM jsonb_array_elements_text(p.payload #> '{ids,${key}}') AS i (value) WHERE TRUE`;
  return { rows, id: 'i.value' };
}

/** Points of which one leg or the other may name some. */
interface Leading {
  readonly query: IndexQuery;
  readonly table: OwnerTable | null;
  readonly near: Seen;
  /** The best by words. */
  readonly worded: Seen;
  /** Of those, and of the near ones that have a word of the question. */
  readonly keywordScores: ReadonlyMap<StoredPoint, number>;
}

function leadingOf({ query, table, fitting }: Looked): Leading {
  const { vector, terms, limit } = query;
  const seen = table === null ? [] : seenOf(table, query, fitting);
  const near = vector === null || limit < 1 ? [] : mayBeBest(seen, { vector, limit });
  const ranking = terms === null ? [] : keywordLeg(seen, { ...query, terms, also: new Set(near) });
  const worded = ranking.slice(0, limit).map(([point]) => point);
  return { query, table, near, worded, keywordScores: new Map(ranking) };
}

interface DetailRow {
  readonly slot: number;
  readonly vector: Buffer;
  readonly payload: string;
}

type Details = ReadonlyMap<number, DetailRow>;

/** What the server has of all these points, by the numbers of their owners and their slots. */
async function detailsOf(sql: Sql, leading: readonly Leading[]): Promise<ReadonlyMap<number, Details>> {
  const wanted = new Map<number, Map<number, StoredPoint>>();
  for (const { table, near, worded } of leading) {
    if (table === null) continue;
    const points = wanted.get(table.number) ?? new Map<number, StoredPoint>();
    for (const point of [...near, ...worded]) points.set(point.slot, point);
    if (points.size > 0) wanted.set(table.number, points);
  }
  const asks = [...wanted].map(([owner, points]) => {
    const list = [...points.values()];
    const ids = list.map(({ memoryId }) => memoryId);
    return askOf(DETAILS, { owner, ids, versions: list.map(({ version }) => version) });
  });
  const answers = asks.length === 0 ? [] : await sql.askLast(asks);
  return new Map(
    [...wanted.keys()].map((owner, i) => {
      const rows = (answers[i] ?? NONE).rows as readonly DetailRow[];
      return [owner, new Map(rows.map((row) => [row.slot, row]))];
    }),
  );
}

const DETAILS = `
SELECT p.slot, p.vector, p.payload
FROM unnest(@ids::text[], @versions::integer[]) AS n (memory_id, version)
JOIN points p ON p.owner = @owner AND p.memory_id = n.memory_id AND p.version = n.version`;

/** The points either leg found, by memory id and version, each scored in both. */
function hitsOf({ query, near, worded, keywordScores }: Leading, details: Details): IndexHit[] {
  const { vector } = query;
  const readVectors = (points: Seen) =>
    new Map(
      points.flatMap((point) => {
        const stored = details.get(point.slot);
        return stored === undefined ? [] : [[point, unpackedVector(stored.vector)] as const];
      }),
    );
  const vectorScores = new Map(vector === null ? [] : vectorLeg(near, { ...query, vector }, readVectors));
  const byWords = worded.filter((point) => !vectorScores.has(point));
  if (vector !== null)
    for (const [point, score] of cosinesOf(byWords, vector, readVectors)) vectorScores.set(point, score);
  return [...new Set([...vectorScores.keys(), ...worded])].sort(byMemory).flatMap((point) => {
    const stored = details.get(point.slot);
    if (stored === undefined) return [];
    const keywordScore = keywordScores.get(point) ?? null;
    return [
      { point: JSON.parse(stored.payload) as ShownPoint, vectorScore: vectorScores.get(point) ?? null, keywordScore },
    ];
  });
}

import type { IndexQuery } from '@slowwave/engine';
import { postgresDialect } from '../../filter-sql/postgres.ts';
import { translate } from '../../filter-sql/translate.ts';
import { foundIn, type Narrowed, shownOf } from '../../sqlite/search-index/looking.ts';
import type { FoundPoint } from '../../sqlite/search-index/protocol.ts';
import type { StoredPoint } from '../../sqlite/search-index/stored-point.ts';
import { isForDecision, takingTurns } from '../../sqlite/search-index/turns.ts';
import type { Answer, Ask } from '../ledger/asking.ts';
import { askOf, askOnce, type Sql } from '../ledger/sql.ts';
import { OVERTAKEN, type OwnerTable, type ownerCache } from './owners.ts';
import { OWNER_NAMED, ownerKey } from './schema.ts';

type Owners = ReturnType<typeof ownerCache>;
type Found = ReturnType<typeof foundIn>;
type Search = (sql: Sql, queries: readonly IndexQuery[]) => Promise<FoundPoint[][] | null>;

/**
 * Answers questions on one snapshot: the server is asked once for what changed of their owners and which points their filters leave, and
 * once for what hits show. What is compared, and how, is what the index in a SQLite file does, so that both give the same scores.
 * null: who looked later was faster, and what this one looked at is gone; ask again.
 */
export function searchIn(owners: Owners): Search {
  const turns = takingTurns<Looked, Found>(foundOf, ({ query }) => isForDecision(query));
  return async (sql, queries) => {
    const looked = await look(sql, owners, queries);
    if (looked === null) return null;
    const found = await turns(looked);
    const payloads = await payloadsOf(sql, looked, found);
    return looked.map(({ table }, i) => {
      const ofOwner = payloads.get(table?.number ?? 0);
      return shownOf(found[i] ?? [], ({ slot }) => ofOwner?.get(slot));
    });
  };
}

/** A question and what it is asked of. */
interface Looked {
  readonly query: IndexQuery;
  /** null: its owner has nothing. */
  readonly table: OwnerTable | null;
  /** Slots of the owner that the question's filter leaves. */
  readonly fitting: Narrowed;
}

const foundOf = ({ query, table, fitting }: Looked): Found => (table === null ? [] : foundIn(table, query, fitting));

async function look(sql: Sql, owners: Owners, queries: readonly IndexQuery[]): Promise<readonly Looked[] | null> {
  const nameOf = (query: IndexQuery): string => JSON.stringify(ownerKey(query));
  const looks = new Map(queries.map((query) => [nameOf(query), owners.look(query)]));
  const filtered = queries.filter(({ where }) => where !== null);
  const answers = await sql.ask([...[...looks.values()].map(({ ask }) => ask), ...filtered.map(askFitting)]);
  const tables = [...looks.values()].map((one, i) => one.tableOf(answers[i] ?? NONE));
  const known = tables.filter((table) => table !== OVERTAKEN);
  if (known.length < tables.length) return null;
  const tableOf = new Map([...looks.keys()].map((name, i) => [name, known[i] ?? null]));
  const fitting = new Map(filtered.map((query, i) => [query, slotsIn(answers[looks.size + i] ?? NONE)]));
  return queries.map((query) => ({
    query,
    table: tableOf.get(nameOf(query)) ?? null,
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

interface PayloadRow {
  readonly slot: number;
  readonly payload: string;
}

type Payloads = ReadonlyMap<number, string>;

/** What hits show of all that was found, by the numbers of their owners and their slots. */
async function payloadsOf(
  sql: Sql,
  looked: readonly Looked[],
  found: readonly Found[],
): Promise<ReadonlyMap<number, Payloads>> {
  const wanted = new Map<number, Map<number, StoredPoint>>();
  for (const [i, { table }] of looked.entries()) {
    if (table === null) continue;
    const points = wanted.get(table.number) ?? new Map<number, StoredPoint>();
    for (const { point } of found[i] ?? []) points.set(point.slot, point);
    if (points.size > 0) wanted.set(table.number, points);
  }
  const asks = [...wanted].map(([owner, points]) => {
    const list = [...points.values()];
    const ids = list.map(({ memoryId }) => memoryId);
    return askOf(PAYLOADS, { owner, ids, versions: list.map(({ version }) => version) });
  });
  const answers = asks.length === 0 ? [] : await sql.askLast(asks);
  return new Map(
    [...wanted.keys()].map((owner, i) => {
      const rows = (answers[i] ?? NONE).rows as readonly PayloadRow[];
      return [owner, new Map(rows.map(({ slot, payload }) => [slot, payload]))];
    }),
  );
}

const PAYLOADS = `
SELECT p.slot, p.payload
FROM unnest(@ids::text[], @versions::integer[]) AS n (memory_id, version)
JOIN points p ON p.owner = @owner AND p.memory_id = n.memory_id AND p.version = n.version`;

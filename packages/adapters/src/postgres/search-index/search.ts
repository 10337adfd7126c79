import type { Filter, IndexQuery } from '@slowwave/engine';
import { postgresDialect } from '../../filter-sql/postgres.ts';
import { translate } from '../../filter-sql/translate.ts';
import { NOTHING_FITS, seesOnlyLive, type TouchedSlot } from '../../sqlite/search-index/fitting.ts';
import { foundIn, type Narrowed, shownOf } from '../../sqlite/search-index/looking.ts';
import { isByMoments, type MomentsOfSlot, momentColumns } from '../../sqlite/search-index/moments.ts';
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
  const filters = queries.flatMap((query) => filterOf(query, looks.get(nameOf(query))?.known ?? null));
  const asks = [...[...looks.values()].map(({ ask }) => ask), ...filters.map(({ ask }) => ask)];
  const answers = await sql.ask(asks);
  const tables = [...looks.values()].map((one, i) => one.tableOf(answers[i] ?? NONE));
  const known = tables.filter((table) => table !== OVERTAKEN);
  if (known.length < tables.length) return null;
  const tableOf = new Map([...looks.keys()].map((name, i) => [name, known[i] ?? null]));
  const fitting = new Map<IndexQuery, Narrowed>();
  for (const [i, { query, fittingIn }] of filters.entries()) {
    const table = tableOf.get(nameOf(query)) ?? null;
    const left = table === null ? NOTHING_FITS : fittingIn(table, answers[looks.size + i] ?? NONE);
    if (left === null) return null;
    fitting.set(query, left);
  }
  return queries.map((query) => ({
    query,
    table: tableOf.get(nameOf(query)) ?? null,
    fitting: fitting.get(query) ?? null,
  }));
}

const NONE: Answer = { rows: [], count: 0 };

/** What the server is asked about a question's filter, and what is made of its answer. */
interface FilterAsked {
  readonly query: IndexQuery;
  readonly ask: Ask;
  /** null: it was asked about an owner who has been replaced since. */
  fittingIn(table: OwnerTable, answer: Answer): Narrowed;
}

function filterOf(query: IndexQuery, known: OwnerTable | null): readonly FilterAsked[] {
  const { visibility, where } = query;
  if (where === null) return [];
  if (known !== null && known.many !== null && isByMoments(where)) return [momentsAsked(query, known, where)];
  const before = known?.fitting.get({ visibility, where }) ?? null;
  const { condition, params } = translate(where, DIALECT);
  const fits = `${seesOnlyLive(query) ? 'p.live = 1 AND ' : ''}(${condition})`;
  const named = { ...ownerKey(query), ...params };
  const ask =
    before === null || known === null
      ? askOnce(`SELECT p.slot, 1 AS fits ${POINTS} WHERE ${fits}`, named)
      : askOnce(
          `SELECT p.slot, CASE WHEN ${fits} THEN 1 ELSE 0 END AS fits ${POINTS}
            WHERE o.number = @known AND p.change > @since::bigint`,
          { ...named, known: known.number, since: before.changes },
        );
  return [
    {
      query,
      ask,
      fittingIn: (table, { rows }) => {
        if (before !== null && known?.number !== table.number) return null;
        const fitting = (before ?? NOTHING_FITS).with(table.changes, rows as readonly TouchedSlot[]);
        table.fitting.keep({ visibility, where }, fitting);
        return fitting;
      },
    },
  ];
}

const POINTS = `FROM state s JOIN owners o ON ${OWNER_NAMED} JOIN points p ON p.owner = o.number`;

/** A filter by time asks for the moments of what has changed since they were read. */
function momentsAsked(query: IndexQuery, known: OwnerTable, where: Filter): FilterAsked {
  const before = known.fitting.moments();
  const since = { known: known.number, since: before.changes };
  return {
    query,
    ask: askOf(SELECT_MOMENTS, { ...ownerKey(query), ...since }),
    fittingIn: (table, { rows }) => {
      if (known.number !== table.number) return null;
      const moments = before.with(table.changes, rows as readonly MomentsOfSlot[]);
      table.fitting.keepMoments(moments);
      return moments.leftBy(where);
    },
  };
}

const textAt = (name: string): string => `(p.payload ->> '${name}')`;
const numberAt = (name: string): string => `${textAt(name)}::double precision`;
const flagAt = (name: string): string => `coalesce(${textAt(name)}::boolean, FALSE)`;

/** Read from what a hit shows, see shown-point.ts: nobody filters so much that columns of their own would pay. */
const COLUMNS = {
  userId: `coalesce(${textAt('u')}, CASE o.kind WHEN 'user' THEN o.id END)`,
  memoryId: 'p.memory_id',
  text: textAt('t'),
  category: textAt('g'),
  immutable: flagAt('x'),
  flagged: flagAt('f'),
  trust: `coalesce(${textAt('o')}, 'user')`,
  confirmations: `coalesce(${numberAt('n')}, 0)`,
  createdAt: numberAt('c'),
  updatedAt: `coalesce(${numberAt('m')}, ${numberAt('c')})`,
  saidAt: numberAt('s'),
  validFrom: `coalesce(${numberAt('v')}, ${numberAt('s')})`,
  expiresAt: numberAt('z'),
};

const SELECT_MOMENTS = `
SELECT p.slot, ${momentColumns(COLUMNS)} ${POINTS} WHERE o.number = @known AND p.change > @since::bigint`;

const DIALECT = postgresDialect({
  columns: COLUMNS,
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "(p.payload -> 'd')",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  const rows = `SELECT 1 FROM jsonb_array_elements_text(p.payload #> '{i,${key}}') AS i (value) WHERE TRUE`;
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

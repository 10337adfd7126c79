import type { Filter, IndexQuery } from '@slowwave/engine';
import { sqliteDialect } from '../../filter-sql/sqlite.ts';
import { translate } from '../../filter-sql/translate.ts';
import type { Sql } from '../ledger/sql.ts';
import { NOTHING_FITS, seesOnlyLive, type TouchedSlot } from './fitting.ts';
import type { Seen } from './legs.ts';
import { foundIn, type Narrowed, shownOf } from './looking.ts';
import type { OwnerRow, OwnerTable } from './owners.ts';
import type { FoundPoint } from './protocol.ts';
import { SLOTS } from './tables.ts';

/** What the legs find; only the payloads of what is found are read from the file. */
export function answerOf(sql: Sql, table: OwnerTable, query: IndexQuery): FoundPoint[] {
  const found = foundIn(table, query, fittingSlots(sql, table, query));
  const payloads = payloadsOf(
    sql,
    table.owner,
    found.map(({ point }) => point),
  );
  return shownOf(found, (point) => payloads.get(point.slot));
}

/** What the file shows of these points, by their slots. */
function payloadsOf(sql: Sql, { number }: OwnerRow, of: Seen): Map<number, string> {
  const text = `SELECT row, payload FROM points WHERE row IN (SELECT value FROM json_each(@rows))`;
  const rows = JSON.stringify(of.map(({ slot }) => number * SLOTS + slot));
  const stored = sql.all<{ row: number; payload: string }>(text, { rows });
  return new Map(stored.map(({ row, payload }) => [row % SLOTS, payload]));
}

/** The slots of the owner's points that the question's filter is true of; null where it has none. */
function fittingSlots(sql: Sql, { owner, fitting }: OwnerTable, query: IndexQuery): Narrowed {
  const { visibility, where } = query;
  if (where === null) return null;
  const known = fitting.get({ visibility, where }) ?? NOTHING_FITS;
  if (known.changes === owner.changes) return known;
  const now = known.with(
    owner.changes,
    touchedSince(sql, owner, { owner: query.owner, visibility, where, since: known.changes }),
  );
  fitting.keep({ visibility, where }, now);
  return now;
}

type Filtering = Pick<IndexQuery, 'owner' | 'visibility'> & { readonly where: Filter; readonly since: number };

function touchedSince(sql: Sql, { number }: OwnerRow, { owner, visibility, where, since }: Filtering): TouchedSlot[] {
  const { condition, params } = translate(where, DIALECT);
  const fits = `${seesOnlyLive({ visibility }) ? 'live = 1 AND ' : ''}(${condition})`;
  const range = { firstRow: number * SLOTS, lastRow: (number + 1) * SLOTS - 1 };
  const [text, given] =
    since === 0
      ? [`SELECT row, 1 AS fits FROM points WHERE row BETWEEN @firstRow AND @lastRow AND ${fits}`, range]
      : [
          `SELECT row, coalesce(${fits}, 0) AS fits FROM points WHERE owner = @number AND change > @since`,
          { number, since },
        ];
  const ownerUser = owner.kind === 'user' ? owner.id : null;
  const rows = sql.once<{ row: number; fits: number }>(text, { ...given, ...params, ownerUser });
  return rows.map(({ row, fits }) => ({ slot: row % SLOTS, fits }));
}

/** Read from what a hit shows: nobody filters so much that columns of their own would pay. */
const DIALECT = sqliteDialect({
  columns: {
    userId: "coalesce(payload ->> '$.u', @ownerUser)",
    memoryId: 'memory_id',
    text: "(payload ->> '$.t')",
    category: "(payload ->> '$.g')",
    immutable: "coalesce(payload ->> '$.x', FALSE)",
    flagged: "coalesce(payload ->> '$.f', FALSE)",
    trust: "coalesce(payload ->> '$.o', 'user')",
    confirmations: "coalesce(payload ->> '$.n', 0)",
    createdAt: "(payload ->> '$.c')",
    updatedAt: "coalesce(payload ->> '$.m', payload ->> '$.c')",
    saidAt: "(payload ->> '$.s')",
    validFrom: "coalesce(payload ->> '$.v', payload ->> '$.s')",
    expiresAt: "(payload ->> '$.z')",
  },
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "payload -> '$.d'",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  return { rows: `SELECT 1 FROM json_each(payload, '$.i.${key}') AS i WHERE TRUE`, id: 'i.value' };
}

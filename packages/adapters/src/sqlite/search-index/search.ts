import type { Filter, IndexQuery } from '@slowwave/engine';
import { sqliteDialect } from '../../filter-sql/sqlite.ts';
import { translate } from '../../filter-sql/translate.ts';
import type { Sql } from '../ledger/sql.ts';
import { NOTHING_FITS, seesOnlyLive, type TouchedSlot } from './fitting.ts';
import type { Seen } from './legs.ts';
import { foundIn, type Narrowed, shownOf } from './looking.ts';
import { isByMoments, type Moments, type MomentsOfSlot, momentColumns } from './moments.ts';
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
function fittingSlots(sql: Sql, table: OwnerTable, query: IndexQuery): Narrowed {
  const { owner, fitting } = table;
  const { visibility, where } = query;
  if (where === null) return null;
  if (table.many !== null && isByMoments(where)) return momentsNow(sql, table).leftBy(where);
  const known = fitting.get({ visibility, where }) ?? NOTHING_FITS;
  if (known.changes === owner.changes) return known;
  const now = known.with(
    owner.changes,
    touchedSince(sql, owner, { owner: query.owner, visibility, where, since: known.changes }),
  );
  fitting.keep({ visibility, where }, now);
  return now;
}

function momentsNow(sql: Sql, { owner, fitting }: OwnerTable): Moments {
  const known = fitting.moments();
  if (known.changes === owner.changes) return known;
  const { text, given } = pointsSince(owner, known.changes);
  const rows = sql.all<Omit<MomentsOfSlot, 'slot'> & { row: number }>(`SELECT row, ${MOMENTS} ${text}`, given);
  const now = known.with(
    owner.changes,
    rows.map(({ row, ...moments }) => ({ slot: row % SLOTS, ...moments })),
  );
  fitting.keepMoments(now);
  return now;
}

/** What has changed of an owner since; all of it, side by side, where nothing is known of it. */
function pointsSince({ number }: Pick<OwnerRow, 'number'>, since: number) {
  return since === 0
    ? {
        text: 'FROM points WHERE row BETWEEN @firstRow AND @lastRow',
        given: { firstRow: number * SLOTS, lastRow: (number + 1) * SLOTS - 1 },
      }
    : { text: 'FROM points WHERE owner = @number AND change > @since', given: { number, since } };
}

type Filtering = Pick<IndexQuery, 'owner' | 'visibility'> & { readonly where: Filter; readonly since: number };

function touchedSince(sql: Sql, { number }: OwnerRow, { owner, visibility, where, since }: Filtering): TouchedSlot[] {
  const { condition, params } = translate(where, DIALECT);
  const fits = `${seesOnlyLive({ visibility }) ? 'live = 1 AND ' : ''}(${condition})`;
  const { text: from, given } = pointsSince({ number }, since);
  const text =
    since === 0 ? `SELECT row, 1 AS fits ${from} AND ${fits}` : `SELECT row, coalesce(${fits}, 0) AS fits ${from}`;
  const ownerUser = owner.kind === 'user' ? owner.id : null;
  const rows = sql.once<{ row: number; fits: number }>(text, { ...given, ...params, ownerUser });
  return rows.map(({ row, fits }) => ({ slot: row % SLOTS, fits }));
}

/** Read from what a hit shows: nobody filters so much that columns of their own would pay. */
const COLUMNS = {
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
};

const MOMENTS = momentColumns(COLUMNS);

const DIALECT = sqliteDialect({
  columns: COLUMNS,
  lists: { agentId: idsIn('agentId'), runId: idsIn('runId'), appId: idsIn('appId') },
  metadata: "payload -> '$.d'",
});

function idsIn(key: 'agentId' | 'runId' | 'appId') {
  return { rows: `SELECT 1 FROM json_each(payload, '$.i.${key}') AS i WHERE TRUE`, id: 'i.value' };
}

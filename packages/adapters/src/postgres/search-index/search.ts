import type { IndexQuery } from '@slowwave/engine';
import { foundIn, type Narrowed, NOTHING_FITS, shownOf, touchedIn } from '../../sqlite/search-index/looking.ts';
import type { PackedRow } from '../../sqlite/search-index/packed-records.ts';
import { keptJson, ShownRow } from '../../sqlite/search-index/packed-shown.ts';
import { type FoundPoint, isForDecision, takingTurns } from '../../sqlite/search-index/protocol.ts';

import type { StoredPoint } from '../../sqlite/search-index/stored-point.ts';
import { blockOf } from '../../sqlite/search-index/tables.ts';
import type { Answer, Ask } from '../ledger/asking.ts';
import { askOf, type Sql } from '../ledger/sql.ts';
import { OVERTAKEN, type OwnerTable, type ownerCache } from './owners.ts';
import { OWNER_NAMED, ownerKey } from './schema.ts';

type Owners = ReturnType<typeof ownerCache>;
type Found = ReturnType<typeof foundIn>;
type Search = (sql: Sql, queries: readonly IndexQuery[]) => Promise<FoundPoint[][] | null>;

/**
 * Answers questions on one snapshot: the server is asked once for what changed of their owners and which points their filters leave, and
 * once for what hits show, unless that is in memory. What is compared, and how, is what the index in a SQLite file does, so that both give the same scores.
 * null: who looked later was faster, and what this one looked at is gone; ask again.
 */
export function searchIn(owners: Owners): Search {
  const turns = takingTurns<Looked, Found>(foundOf, ({ query }) => isForDecision(query));
  return async (sql, queries) => {
    const looked = await look(sql, owners, queries);
    if (looked === null) return null;
    const found = await turns(looked);
    await readShown(sql, looked, found);
    return looked.map(({ table }, i) => shownOf(found[i] ?? [], table?.many?.shownOf ?? (({ shown }) => shown)));
  };
}

/** A question and what it is asked of. */
interface Looked {
  readonly query: IndexQuery;
  /** null: its owner has nothing. */
  readonly table: OwnerTable | null;
  /** Slots of an owner with few points that the question's filter leaves. */
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
  const asked = new Set(filters.map(({ query }) => query));
  // It was known with very many points, of which filters ask nobody, and has few by now.
  const isUnasked = (query: IndexQuery): boolean => tableOf.get(nameOf(query))?.many === null && !asked.has(query);
  if (queries.some((query) => query.where !== null && isUnasked(query))) return null;
  for (const [i, { query, fittingIn }] of filters.entries()) {
    const table = tableOf.get(nameOf(query)) ?? null;
    if (table !== null && table.many !== null) continue;
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

/** What the server is asked about the filter of a question to an owner who may have few points, and what is made of its answer. */
interface FilterAsked {
  readonly query: IndexQuery;
  readonly ask: Ask;
  /** null: it was asked about an owner who has been replaced since. */
  fittingIn(table: OwnerTable, answer: Answer): Narrowed;
}

function filterOf(query: IndexQuery, known: OwnerTable | null): readonly FilterAsked[] {
  const { visibility, where } = query;
  if (where === null) return [];
  if (known !== null && known.many !== null) return [];
  const before = known?.fitting.get({ visibility, where }) ?? null;
  const since = before?.changes ?? 0;
  return [
    {
      query,
      ask: askOf(TOUCHED, { ...ownerKey(query), known: before === null ? null : (known?.number ?? null), since }),
      fittingIn: (table, { rows }) => {
        if (before !== null && known?.number !== table.number) return null;
        const filtering = { ...query, where, since };
        const touched = (rows as readonly TouchedRow[]).flatMap((row) => touchedIn(row, filtering));
        // What is loose is newer than what its block has of it.
        const now = new Map(touched.map((one) => [one.slot, one])).values();
        const fitting = (before ?? NOTHING_FITS).with(table.changes, now);
        table.fitting.keep({ visibility, where }, fitting);
        return fitting;
      },
    },
  ];
}

type TouchedRow = Omit<PackedRow, 'records'> & { readonly first: number };

/** Of an owner who has not changed no row is looked at. */
const CHANGED = 'owner = o.number AND o.changes > @since::bigint AND change > @since::bigint';

/** Of one owner by its number, if that is named; rows of blocks first. */
const TOUCHED = `
SELECT p.first, p.change, p.heads, p.shown
FROM state s JOIN owners o ON ${OWNER_NAMED} JOIN LATERAL (
  SELECT 0 AS part, first, change, heads, shown FROM blocks WHERE ${CHANGED}
  UNION ALL
  SELECT 1 AS part, first, change, heads, shown FROM loose WHERE ${CHANGED}
) AS p ON true
WHERE o.number = coalesce(@known::bigint, o.number)
ORDER BY p.part`;

/** Asks for what hits show of all that was found, as far as it is not known. */
async function readShown(sql: Sql, looked: readonly Looked[], found: readonly Found[]): Promise<void> {
  const unknown = looked.flatMap(({ table }, i) => {
    const points = table === null || table.many !== null ? [] : (found[i] ?? []).map(({ point }) => point);
    const slots = points.flatMap(({ slot, shown }) => (shown === null ? [slot] : []));
    return table === null || slots.length === 0 ? [] : [{ owner: table.number, slots, points }];
  });
  if (unknown.length === 0) return;
  const answers = await sql.askLast(
    unknown.map(({ owner, slots }) => askOf(SHOWN, { owner, slots, blocks: [...new Set(slots.map(blockOf))] })),
  );
  for (const [i, { points }] of unknown.entries()) {
    keepShown((answers[i] ?? NONE).rows as readonly ShownIn[], new Map(points.map((point) => [point.slot, point])));
  }
}

type ShownIn = Pick<TouchedRow, 'first' | 'shown'>;

/** What is loose comes first: it is newer than what its block has of it. */
function keepShown(rows: readonly ShownIn[], points: ReadonlyMap<number, StoredPoint>): void {
  for (const { first, shown } of rows) {
    const inRow = new ShownRow(shown, first);
    for (const [place, slot] of inRow.slots.entries()) {
      const point = points.get(slot);
      if (point !== undefined) point.shown ??= keptJson(inRow.partsAt(place), point.moments);
    }
  }
}

const SHOWN = `
SELECT first, shown FROM (
  SELECT 1 AS part, first, shown FROM blocks WHERE owner = @owner AND first = ANY (@blocks::integer[])
  UNION ALL
  SELECT 0 AS part, first, shown FROM loose WHERE owner = @owner AND first = ANY (@slots::integer[])
) AS p
ORDER BY part`;

import type { FoldedRelation, LaneId, Statement } from '@slowwave/engine';
import { changedRelations, foldRelations } from '@slowwave/engine/storing';
import { all, insert, type Script, together } from '../script.ts';
import { type Moved, mergedInto, standingsOf } from './merges.ts';
import type { Folding } from './refold.ts';
import { foldedFrom, type RelationRow, relationColumns, type StatementRow, statementFrom } from './rows.ts';

/**
 * What is folded together: all that a source has of a relationship, or with one destination only. Destinations know
 * nothing of each other unless something was said to have one value.
 */
interface Group {
  readonly source: string;
  readonly relationship: string;
  /** null: any. */
  readonly destination: string | null;
}

/**
 * Folds again the groups that changed statements or moved entities are in. An end is read with all that was merged into it.
 *
 *     what changed                               what is folded again
 *  1  Ana likes tea                              Ana likes tea                   one destination: others know nothing of it
 *  2  Ana lives in Oslo (one value at a time)    Ana lives in *                  all of them: a new value ends the last one
 *  3  Ana lives in Oslo, among several, after    Ana lives in *                  all of them too: one statement with a single
 *     somebody had said 2                                                        value makes the whole group depend on it
 *  4  Ann was merged into Ana, or taken apart    Ann likes tea, Ana likes tea    where it stood before, and where it stands now
 */
export function* refoldRelations(
  { tenant, lane, now }: Folding,
  touched: { statements: readonly Statement[]; moved: readonly Moved[] },
): Script<void> {
  const groups = yield* groupsOf(lane, touched);
  if (groups.length === 0) return;
  const members = yield* membersOf(lane, groups);
  const statements = yield* statementsOf(lane, groups, members);
  const standing = yield* standingsOf(lane, statements.flatMap(endsOfRelation));
  const next = foldRelations(statements, standing);
  const kept = yield* keptIn(
    lane,
    groups,
    next.map(({ id }) => id),
  );
  const changed = changedRelations(kept, next, now);
  yield* insert(
    'graph_relations',
    changed.map((one) => ({ ...relationColumns(one), tenant, lane, unprojected_at: now })),
    REPLACE_RELATION,
  );
}

/** As their ends stand now, and as they stood before they moved. */
function* groupsOf(
  lane: LaneId,
  { statements, moved }: { statements: readonly Statement[]; moved: readonly Moved[] },
): Script<readonly Group[]> {
  const own = statements.filter(isOfRelation);
  const before = new Map(moved.map(({ id, from }) => [id, from]));
  const theirs = (yield* statementsNaming(lane, [...before.keys()])).filter(isOfRelation);
  const standing = yield* standingsOf(lane, [...own, ...theirs].flatMap(endsOfRelation));
  const ends = (id: string): string[] => [...new Set([standing(id), before.get(id) ?? standing(id)])];
  const groups = [...own, ...theirs].flatMap((one) => {
    const destinations = isSingle(one) ? [null] : ends(one.destination);
    return ends(one.source).flatMap((source) =>
      destinations.map((destination): Group => ({ source, relationship: one.relationship, destination })),
    );
  });
  return withoutCovered(yield* widened(lane, groups));
}

function* statementsNaming(lane: LaneId, ids: readonly string[]): Script<readonly Statement[]> {
  return ids.length === 0 ? [] : (yield* all<StatementRow>(SELECT_NAMING, { lane, ids })).map(statementFrom);
}

/** Groups in which something has one value are folded as a whole. */
function* widened(lane: LaneId, groups: readonly Group[]): Script<readonly Group[]> {
  const members = yield* membersOf(lane, groups);
  const rows = groups.flatMap(({ source, relationship }) =>
    (members.get(source) ?? []).map((one) => ({ source: one, end: source, relationship })),
  );
  const found = yield* all<{ source: string; relationship: string }>(SELECT_SINGLE, { lane, rows });
  const single = new Set(found.map(keyOf));
  return groups.map((group) => (single.has(keyOf(group)) ? { ...group, destination: null } : group));
}

/** Each once, and none that is in another one. */
function withoutCovered(groups: readonly Group[]): readonly Group[] {
  const wide = new Set(groups.filter(({ destination }) => destination === null).map(keyOf));
  const needed = groups.filter((group) => group.destination === null || !wide.has(keyOf(group)));
  return [...new Map(needed.map((group) => [JSON.stringify([keyOf(group), group.destination]), group])).values()];
}

/** Each end with all that was merged into it, itself included. */
function* membersOf(lane: LaneId, groups: readonly Group[]): Script<ReadonlyMap<string, readonly string[]>> {
  const ends = new Set(
    groups.flatMap(({ source, destination }) => (destination === null ? [source] : [source, destination])),
  );
  const merged = Map.groupBy(yield* mergedInto(lane, ends), (row) => row.merged_into);
  return new Map([...ends].map((end) => [end, [end, ...(merged.get(end) ?? []).map(({ id }) => id)]]));
}

function* statementsOf(
  lane: LaneId,
  groups: readonly Group[],
  members: ReadonlyMap<string, readonly string[]>,
): Script<readonly Statement[]> {
  const named = groups.flatMap(({ source, relationship, destination }) => {
    const to = destination === null ? [null] : (members.get(destination) ?? []);
    return (members.get(source) ?? []).flatMap((from) =>
      to.map((one): Group => ({ source: from, relationship, destination: one })),
    );
  });
  const rows = yield* ofGroups<StatementRow>(STATEMENTS_IN, lane, named);
  return [...new Map(rows.map((row) => [row.id, statementFrom(row)])).values()];
}

/** All that count in the groups, and whatever was kept under these ids. */
function* keptIn(lane: LaneId, groups: readonly Group[], ids: readonly string[]): Script<readonly FoldedRelation[]> {
  const [rows, same] = yield* together(
    ofGroups<RelationRow>(RELATIONS_IN, lane, groups),
    all<RelationRow>('SELECT * FROM graph_relations WHERE lane = @lane AND id IN :ids', { lane, ids }),
  );
  return [...new Map([...rows, ...same].map((row) => [row.id, foldedFrom(row)])).values()];
}

function* ofGroups<Row>(from: string, lane: LaneId, groups: readonly Group[]): Script<readonly Row[]> {
  const wide = groups.filter(({ destination }) => destination === null);
  const exact = groups.filter(({ destination }) => destination !== null);
  const ask = (text: string, rows: readonly Group[]) => (rows.length === 0 ? [] : [all<Row>(text, { lane, rows })]);
  const inExact = `${from} AND x.destination = r.value ->> 'destination'`;
  return (yield* together(...ask(from, wide), ...ask(inExact, exact))).flat();
}

type OfRelation = Extract<Statement, { readonly relationship: string }>;

const isOfRelation = (statement: Statement): statement is OfRelation => 'relationship' in statement;

const isSingle = (statement: Statement): boolean => statement.kind === 'holds' && statement.single;

const endsOfRelation = (statement: Statement): readonly string[] =>
  'destination' in statement ? [statement.source, statement.destination] : [statement.source];

const keyOf = ({ source, relationship }: Pick<Group, 'source' | 'relationship'>): string =>
  JSON.stringify([source, relationship]);

const SELECT_NAMING = `
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND counts = 1 AND source IN :ids
  UNION ALL
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND counts = 1 AND destination IN :ids`;

/** CROSS JOIN: the rows first, and each by the index. */
const SELECT_SINGLE = `
  SELECT DISTINCT r.value ->> 'end' AS source, x.relationship FROM :rows AS r CROSS JOIN graph_statements x
  WHERE x.lane = @lane AND x.source = r.value ->> 'source' AND x.relationship = r.value ->> 'relationship'
    AND x.single = 1 AND x.counts = 1`;

const STATEMENTS_IN = `
  SELECT x.id, x.statement, x.counts FROM :rows AS r CROSS JOIN graph_statements x
  WHERE x.lane = @lane AND x.counts = 1
    AND x.source = r.value ->> 'source' AND x.relationship = r.value ->> 'relationship'`;

const RELATIONS_IN = `
  SELECT x.* FROM :rows AS r CROSS JOIN graph_relations x
  WHERE x.lane = @lane AND x.counts = 1
    AND x.source = r.value ->> 'source' AND x.relationship = r.value ->> 'relationship'`;

const CHANGING = [
  ...['source', 'relationship', 'destination', 'valid_from', 'invalid_at', 'ended_by', 'said_at', 'said_seq'],
  ...['confirmations', 'message_ids', 'memory_ids', 'quote', 'revision', 'counts', 'updated_at'],
];

const REPLACE_RELATION = `ON CONFLICT (id) DO UPDATE SET ${CHANGING.map((name) => `${name} = excluded.${name}`).join(', ')},
    unprojected_at = coalesce(graph_relations.unprojected_at, excluded.unprojected_at)`;

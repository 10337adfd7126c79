import type { FoldedRelation, Following, LaneId, Standing, Statement, TenantId } from '@slowwave/engine';
import {
  aliasesOf,
  changedEntities,
  changedRelations,
  endsOf,
  foldRelations,
  lostRelations,
  normaliseText,
  standingOf,
} from '@slowwave/engine/storing';
import { withdrawRelations } from '../receipts.ts';
import { all, insert, run, type Script, together } from '../script.ts';
import {
  type EntityRow,
  foldedFrom,
  type RelationRow,
  relationColumns,
  SELECT_SELF,
  type StatementRow,
  statementFrom,
} from './rows.ts';

/** Whose graph it is, and when it changes. */
export interface Folding {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly now: number;
}

/** Statements that are new, count again or count no longer, and entities that are new. */
export interface Touched {
  readonly statements: readonly Statement[];
  readonly entities: readonly string[];
}

/** Folds again what a change touches, and nothing else: the rest of the lane's graph follows as it did before. */
export function* refold(folding: Folding, touched: Touched): Script<void> {
  const isMerging = touched.statements.some(({ kind }) => kind === 'same' || kind === 'apart');
  const moved: readonly Moved[] = isMerging ? yield* moveMerged(folding.lane) : [];
  const ends = touched.statements.flatMap(endsOf);
  const ids = new Set([...touched.entities, ...ends, ...moved.flatMap(({ id, from, to }) => [id, from, to])]);
  yield* refoldEntities(folding, { ids, moved });
  yield* refoldRelations(folding, { statements: touched.statements, moved });
}

/** An entity as it was before the change. */
interface Before extends Following {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

/** What these entities are called, whether they count, and what they stand for; with them those they stand for. */
function* refoldEntities(
  { lane, now }: Folding,
  { ids, moved }: { ids: ReadonlySet<string>; moved: readonly Moved[] },
): Script<void> {
  const before = yield* entitiesBefore(lane, ids, moved);
  const followings = yield* followingsOf(lane, before);
  const changed = changedEntities(before, followings);
  const rows = changed.map((entity) => ({
    id: entity.id,
    aliases: JSON.stringify(entity.aliases),
    counts: entity.counts ? 1 : 0,
    revision: entity.revision,
  }));
  yield* together(...rows.map((row) => run(UPDATE_ENTITY, { ...row, now })));
  if (changed.length > 0) yield* run(FORGET_NAMES, { ids: changed.map(({ id }) => id) });
  yield* insert(
    'graph_names',
    changed.flatMap((entity) => namesOf(lane, entity)),
  );
}

/** Their rows, with what they stood for before they were moved. */
function* entitiesBefore(lane: LaneId, ids: ReadonlySet<string>, moved: readonly Moved[]): Script<readonly Before[]> {
  const asked = yield* all<EntityRow>(SELECT_ROWS, { lane, ids: [...ids] });
  const ends = asked.flatMap(({ merged_into: end }) => (end === null || ids.has(end) ? [] : [end]));
  const others = ends.length === 0 ? [] : yield* all<EntityRow>(SELECT_ROWS, { lane, ids: [...new Set(ends)] });
  const from = new Map(moved.map((one) => [one.id, one.from === one.id ? null : one.from]));
  return [...asked, ...others].map(({ id, name, revision, aliases, counts, merged_into: end }) => ({
    id,
    name,
    revision,
    aliases: JSON.parse(aliases),
    counts: counts === 1,
    mergedInto: from.get(id) === undefined ? end : (from.get(id) ?? null),
  }));
}

function* followingsOf(lane: LaneId, entities: readonly Before[]): Script<ReadonlyMap<string, Following>> {
  const ids = entities.map(({ id }) => id);
  const members = Map.groupBy(yield* mergedInto(lane, ids), (row) => row.merged_into);
  const named = [...ids, ...[...members.values()].flat().map(({ id }) => id)];
  const [said, standing, counted] = yield* together(
    all<StatementRow>(SELECT_NAMED, { lane, ids: named }),
    all<EntityRow>(SELECT_ROWS, { lane, ids }),
    all<{ id: string }>(SELECT_COUNTING, { lane, rows: ids.map((id) => ({ id })) }),
  );
  const statements = said.map(statementFrom);
  const ends = new Map(standing.map((row) => [row.id, row.merged_into]));
  const counting = new Set(counted.map(({ id }) => id));
  return new Map(
    entities.map((entity) => {
      const aliases = aliasesOf(entity, members.get(entity.id) ?? [], statements);
      return [entity.id, { aliases, mergedInto: ends.get(entity.id) ?? null, counts: counting.has(entity.id) }];
    }),
  );
}

/** What an entity is found by; nothing where it is not shown. */
function namesOf(lane: LaneId, { id, name, aliases, counts, mergedInto: end }: Before) {
  if (!counts || end !== null) return [];
  return [...new Set([name, ...aliases].map(normaliseText))].map((one) => ({ entity: id, lane, name: one }));
}

const SELECT_ROWS = 'SELECT * FROM graph_entities WHERE lane = @lane AND id IN :ids';

const SELECT_NAMED = `
  SELECT id, statement, counts FROM graph_statements
  WHERE lane = @lane AND source IN :ids AND relationship IS NULL AND kind = 'named' AND counts = 1`;

/** One row each is looked for by an index: EXISTS … OR EXISTS … would have PostgreSQL read all statements. */
const SELECT_COUNTING = `
  SELECT r.value ->> 'id' AS id FROM :rows AS r WHERE coalesce(
    (SELECT 1 FROM graph_statements s
      WHERE s.lane = @lane AND s.source = r.value ->> 'id' AND s.counts = 1 LIMIT 1),
    (SELECT 1 FROM graph_statements s
      WHERE s.lane = @lane AND s.destination = r.value ->> 'id' AND s.counts = 1 LIMIT 1)) IS NOT NULL`;

const UPDATE_ENTITY = `
  UPDATE graph_entities SET aliases = @aliases, counts = @counts, revision = @revision,
    unprojected_at = coalesce(unprojected_at, @now)
  WHERE id = @id`;

const FORGET_NAMES = 'DELETE FROM graph_names WHERE entity IN :ids';

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
function* refoldRelations(
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
  yield* withdrawRelations({ tenant, lane }, lostRelations({ kept, changed, next, standing }));
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

/** An entity that stands for another one than it did. */
interface Moved {
  readonly id: string;
  /** What it stood for. */
  readonly from: string;
  readonly to: string;
}

/** Follows the merges of a lane anew. Merges are few beside relations. */
function* moveMerged(lane: LaneId): Script<readonly Moved[]> {
  const rows = yield* all<StatementRow>(SELECT_MERGING, { lane });
  const statements = rows.map(statementFrom);
  const [self] = yield* all<{ id: string }>(SELECT_SELF, { lane });
  const standing = standingOf(statements, self?.id ?? null);
  const before = new Map((yield* all<MergedRow>(SELECT_MERGED, { lane })).map((row) => [row.id, row.merged_into]));
  const ids = new Set([...before.keys(), ...statements.flatMap(endsOf)]);
  const standings = [...ids].map((id) => ({ id, from: before.get(id) ?? id, to: standing(id) }));
  const moved = standings.filter(({ from, to }) => from !== to);
  for (const { id, to } of moved) yield* run(MOVE, { lane, id, into: to === id ? null : to });
  return moved;
}

/** What these entities stand for. */
function* standingsOf(lane: LaneId, ids: Iterable<string>): Script<Standing> {
  const rows = yield* all<StandingRow>(SELECT_STANDING, { lane, ids: [...new Set(ids)] });
  const into = new Map(rows.map((row) => [row.id, row.merged_into]));
  return (id) => into.get(id) ?? id;
}

/** The entities that were merged into these. */
export function* mergedInto(lane: LaneId, ids: Iterable<string>): Script<readonly MergedRow[]> {
  return yield* all<MergedRow>(SELECT_MEMBERS, { lane, ids: [...new Set(ids)] });
}

interface StandingRow {
  readonly id: string;
  readonly merged_into: string | null;
}

interface MergedRow extends StandingRow {
  readonly name: string;
  readonly merged_into: string;
}

const SELECT_MERGING = `
  SELECT id, statement, counts FROM graph_statements
  WHERE lane = @lane AND kind IN ('same', 'apart') AND counts = 1`;

const SELECT_MERGED = 'SELECT id, name, merged_into FROM graph_entities WHERE lane = @lane AND merged_into IS NOT NULL';

const SELECT_STANDING = 'SELECT id, merged_into FROM graph_entities WHERE lane = @lane AND id IN :ids';

const SELECT_MEMBERS = 'SELECT id, name, merged_into FROM graph_entities WHERE lane = @lane AND merged_into IN :ids';

const MOVE = 'UPDATE graph_entities SET merged_into = @into WHERE lane = @lane AND id = @id';

import type { Following, LaneId } from '@slowwave/engine';
import { aliasesOf, changedEntities, normaliseText } from '@slowwave/engine/storing';
import { all, insert, run, type Script, together } from '../script.ts';
import { type Moved, mergedInto } from './merges.ts';
import type { Folding } from './refold.ts';
import { type EntityRow, type StatementRow, statementFrom } from './rows.ts';

/** An entity as it was before the change. */
interface Before extends Following {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
}

/** What these entities are called, whether they count, and what they stand for; with them those they stand for. */
export function* refoldEntities(
  { lane, now }: Folding,
  { ids, moved }: { ids: ReadonlySet<string>; moved: readonly Moved[] },
): Script<void> {
  const before = yield* entitiesBefore(lane, ids, moved);
  const followings = yield* followingsOf(lane, before);
  const changed = changedEntities(before, followings);
  const rows = changed.map((entity) => ({
    ...{ id: entity.id, aliases: JSON.stringify(entity.aliases), counts: entity.counts ? 1 : 0 },
    revision: entity.revision,
  }));
  yield* together(...rows.map((row) => run(UPDATE, { ...row, now })));
  if (changed.length > 0) yield* run(FORGET_NAMES, { ids: changed.map(({ id }) => id) });
  yield* insert(
    'graph_names',
    changed.flatMap((entity) => namesOf(lane, entity)),
  );
}

/** Their rows, with what they stood for before they were moved. */
function* entitiesBefore(lane: LaneId, ids: ReadonlySet<string>, moved: readonly Moved[]): Script<readonly Before[]> {
  const asked = yield* all<EntityRow>(SELECT, { lane, ids: [...ids] });
  const ends = asked.flatMap(({ merged_into: end }) => (end === null || ids.has(end) ? [] : [end]));
  const others = ends.length === 0 ? [] : yield* all<EntityRow>(SELECT, { lane, ids: [...new Set(ends)] });
  const from = new Map(moved.map((one) => [one.id, one.from === one.id ? null : one.from]));
  return [...asked, ...others].map(({ id, name, revision, aliases, counts, merged_into: end }) => ({
    ...{ id, name, revision, aliases: JSON.parse(aliases), counts: counts === 1 },
    mergedInto: from.get(id) === undefined ? end : (from.get(id) ?? null),
  }));
}

function* followingsOf(lane: LaneId, entities: readonly Before[]): Script<ReadonlyMap<string, Following>> {
  const ids = entities.map(({ id }) => id);
  const members = Map.groupBy(yield* mergedInto(lane, ids), (row) => row.merged_into);
  const named = [...ids, ...[...members.values()].flat().map(({ id }) => id)];
  const [said, standing, counted] = yield* together(
    all<StatementRow>(SELECT_NAMED, { lane, ids: named }),
    all<EntityRow>(SELECT, { lane, ids }),
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

const SELECT = 'SELECT * FROM graph_entities WHERE lane = @lane AND id IN :ids';

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

const UPDATE = `
  UPDATE graph_entities SET aliases = @aliases, counts = @counts, revision = @revision,
    unprojected_at = coalesce(unprojected_at, @now)
  WHERE id = @id`;

const FORGET_NAMES = 'DELETE FROM graph_names WHERE entity IN :ids';

import type { Following, LaneId, Suspects } from '@slowwave/engine';
import { graphOf, sameFollowing, sameRelation } from '@slowwave/engine/storing';
import { all, type Script } from '../script.ts';
import { type EntityRow, foldedFrom, type RelationRow, type StatementRow, statementFrom } from './rows.ts';

/** How many ids are named beside a count. */
const EXAMPLES_MAX = 5;
const LANES_PER_PAGE = 200;

/** Relations and entities that are not what follows from the statements that count, by folding all of them again. */
export function* strayRelations(): Script<Suspects> {
  const found: string[] = [];
  for (let after = ''; ; ) {
    const lanes = yield* all<{ lane: LaneId }>(SELECT_LANES, { after, limit: LANES_PER_PAGE });
    for (const { lane } of lanes) found.push(...(yield* straysOf(lane)));
    const last = lanes.at(-1)?.lane;
    if (last === undefined) return { count: found.length, examples: found.sort().slice(0, EXAMPLES_MAX) };
    after = last;
  }
}

function* straysOf(lane: LaneId): Script<readonly string[]> {
  const entities = yield* all<EntityRow>('SELECT * FROM graph_entities WHERE lane = @lane', { lane });
  const statements = yield* all<StatementRow>(SELECT_COUNTING, { lane });
  const rows = yield* all<RelationRow>('SELECT * FROM graph_relations WHERE lane = @lane AND counts = 1', { lane });
  const kept = new Map(rows.map((row) => [row.id, foldedFrom(row)]));
  const self = entities.find((row) => row.self === 1)?.id ?? null;
  const next = graphOf(entities, statements.map(statementFrom), self);
  const lacking = next.relations.filter((relation) => {
    const one = kept.get(relation.id);
    return one === undefined || !sameRelation(one, relation);
  });
  const following = new Set(next.relations.map(({ id }) => id));
  const extra = [...kept.keys()].filter((id) => !following.has(id));
  const others = entities.filter((row) => {
    const wanted = next.entities.get(row.id);
    return wanted !== undefined && !sameFollowing(followingFrom(row), wanted);
  });
  return [...[...lacking, ...others].map(({ id }) => id), ...extra];
}

const followingFrom = ({ aliases, merged_into: mergedInto, counts }: EntityRow): Following => ({
  aliases: JSON.parse(aliases),
  mergedInto,
  counts: counts === 1,
});

const SELECT_LANES = `
  SELECT l.id AS lane FROM lanes l WHERE l.id > @after AND l.erasure IS NULL AND (
    EXISTS (SELECT 1 FROM graph_entities e WHERE e.lane = l.id)
    OR EXISTS (SELECT 1 FROM graph_relations r WHERE r.lane = l.id))
  ORDER BY l.id LIMIT @limit`;

const SELECT_COUNTING = 'SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND counts = 1';

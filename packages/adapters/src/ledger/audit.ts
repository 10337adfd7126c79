import type {
  AuditStore,
  Contradiction,
  Following,
  LaneId,
  OrphanKind,
  ParkedBatches,
  Suspects,
  TenantId,
} from '@slowwave/engine';
import { graphOf, ofNoSpace, sameFollowing, sameRelation } from '@slowwave/engine/storing';
import { type EntityRow, foldedFrom, type RelationRow, type StatementRow, statementFrom } from './graph/rows.ts';
import { consolidationIdOf } from './page.ts';
import { ENDED, hasOwner } from './schema.ts';
import { all, audit, counted, type Given, idsOf, type Script, storeOf } from './script.ts';
import { UNPROJECTED } from './speech.ts';
import { KEPT_IN_STEP } from './usage.ts';

export const auditStore = storeOf<AuditStore>('audit', {
  tenants: audit(function* () {
    const text = 'SELECT DISTINCT tenant AS id FROM (SELECT tenant FROM lanes UNION SELECT tenant FROM counters) AS t';
    return (yield* idsOf<TenantId>(text)).sort();
  }),
  memories: audit(() => counted('SELECT count(*) AS count FROM memories')),
  sample: audit((limit) => all('SELECT tenant, id FROM memories ORDER BY random() LIMIT @limit', { limit })),
  orphans: audit((kind) => suspects(ORPHANS[kind])),
  contradictions: audit((kind) => (kind === FOLDED ? strayRelations() : suspects(CONTRADICTORY[kind]))),
  overdue: audit((before) => suspects(OVERDUE, { before })),
  parked: audit(() =>
    all<ParkedBatches>(`
      SELECT tenant, coalesce(failure ->> 'code', 'unknown') AS code, count(*) AS batches
      FROM batches WHERE state = 'parked' AND ${ofNoSpace('tenant')} GROUP BY 1, 2 ORDER BY 1, 2`),
  ),
});

function* suspects({ id, from }: Audit, given: Given = {}): Script<Suspects> {
  const count = yield* counted(`SELECT count(*) AS count FROM ${from}`, given);
  if (count === 0) return { count, examples: [] };
  return {
    count,
    examples: yield* idsOf(`SELECT ${id} AS id FROM ${from} ORDER BY ${id} LIMIT ${EXAMPLES_MAX}`, given),
  };
}

/** How many ids are named beside a count. */
const EXAMPLES_MAX = 5;

/** What to count: an id, and the rows it is taken from. */
interface Audit {
  readonly id: string;
  readonly from: string;
}

const lacking = (id: string, table: string, missing: string): Audit => ({
  id,
  from: `${table} x WHERE NOT EXISTS (SELECT 1 FROM ${missing})`,
});

const ORPHANS: Readonly<Record<OrphanKind, Audit>> = {
  'batch without lane': lacking('x.id', 'batches', 'lanes y WHERE y.number = x.lane'),
  'message without batch': lacking(
    'x.id',
    `(SELECT coalesce(id, number::text) AS id, batch FROM messages UNION ALL SELECT u.batch_id, (SELECT b.number FROM batches b WHERE b.id = u.batch_id)
      FROM unclaimed_messages u)`,
    'batches y WHERE y.number = x.batch',
  ),
  'memory without lane': lacking('x.id', 'memories', 'lanes y WHERE y.number = x.lane'),
  'memory without event': lacking('x.id', 'memories', 'events y WHERE y.memory = x.number'),
  // What is undone as a whole has no version, but an event that says so.
  'memory without version': {
    id: 'x.id',
    from: `memories x WHERE NOT EXISTS (SELECT 1 FROM versions y WHERE y.memory = x.number)
      AND NOT EXISTS (SELECT 1 FROM events y WHERE y.memory = x.number AND y.retracts IS NOT NULL)`,
  },
  'version without memory': lacking('x.memory::text', 'versions', 'memories y WHERE y.number = x.memory'),
  'event without memory': lacking('x.seq::text', 'events', 'memories y WHERE y.number = x.memory'),
  'tombstone without memory': lacking('x.memory_id', 'tombstones', 'memories y WHERE y.id = x.memory_id'),
  'plan without consolidation': lacking(
    'x.consolidation_id',
    'plans',
    'consolidations y WHERE y.id = x.consolidation_id',
  ),
  'outbox entry without memory': lacking('x.memory_id', 'outbox', 'memories y WHERE y.id = x.memory_id'),
};

const WAITING = `(SELECT count(*) FROM batches b WHERE b.lane = x.number AND b.state = 'pending')`;

/** What no single statement can find: it is folded again, below. */
const FOLDED = 'relation that does not follow';

const CONTRADICTORY: Readonly<Record<Exclude<Contradiction, typeof FOLDED>, Audit>> = {
  'lane that miscounts': { id: 'x.id', from: `lanes x WHERE x.erasure IS NULL AND x.pending <> ${WAITING}` },
  'count that is wrong': {
    id: `x.tenant || ' ' || x.name`,
    from: `(
      SELECT tenant, name FROM (
        SELECT tenant, name, value FROM counters WHERE name IN ('${KEPT_IN_STEP.join("', '")}')
        UNION ALL SELECT tenant, state, -count(*) FROM batches WHERE state IN ${ENDED} GROUP BY tenant, state
        UNION ALL SELECT tenant, 'memories', -count(*) FROM memories WHERE live GROUP BY tenant
        UNION ALL SELECT tenant, 'versions', -sum(version_count) FROM memories GROUP BY tenant
        UNION ALL SELECT tenant, 'owners', -count(*) FROM lanes WHERE ${hasOwner('lanes')} GROUP BY tenant) AS counts
      GROUP BY tenant, name HAVING sum(value) <> 0) AS x`,
  },
  'lane in a wrong state': {
    id: 'x.id',
    from: `lanes x WHERE (x.state = 'idle' AND x.pending > 0) OR (x.state = 'waiting' AND x.pending = 0)
      OR (x.state = 'consolidating') <> (x.consolidation_id IS NOT NULL)`,
  },
  'batch in no window': {
    id: 'x.id',
    from: `batches x WHERE x.state = 'consolidating' AND x.outcome IS NULL AND NOT EXISTS (
      SELECT 1 FROM lanes y
      WHERE y.number = x.lane AND (y.consolidation_id = ${consolidationIdOf('x.consolidation')} OR y.erasure IS NOT NULL))`,
  },
  'batch that never ends': {
    id: 'x.id',
    from: `batches x WHERE x.state = 'consolidating' AND x.outcome IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM outbox y WHERE y.consolidation_id = ${consolidationIdOf('x.consolidation')})
      AND NOT EXISTS (
        SELECT 1 FROM batches b WHERE b.consolidation = x.consolidation AND b.outcome IS NOT NULL AND ${UNPROJECTED})
      AND NOT EXISTS (SELECT 1 FROM lanes z WHERE z.number = x.lane AND z.erasure IS NOT NULL)`,
  },
  'statement that counts wrongly': {
    id: 'x.id',
    from: `graph_statements x JOIN consolidations y ON y.id = x.consolidation_id
      WHERE (x.counts = 1) <> (y.state = 'applied')
        AND NOT EXISTS (SELECT 1 FROM lanes z WHERE z.id = x.lane AND z.erasure IS NOT NULL)`,
  },
};

/** Longest due first would need a sort of its own; ids are in the order in which lanes were made. */
const OVERDUE: Audit = {
  id: 'x.id',
  from: `lanes x WHERE x.state <> 'idle' AND x.due_at < @before`,
};

const LANES_PER_PAGE = 200;

/** Relations and entities that are not what follows from the statements that count, by folding all of them again. */
function* strayRelations(): Script<Suspects> {
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

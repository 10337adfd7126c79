import type {
  Entity,
  KeptRelation,
  LaneId,
  OpenProposal,
  Owner,
  Proposed,
  SaidApart,
  Statement,
  TenantId,
} from '@slowwave/engine';
import { inOrder, openProposals } from '@slowwave/engine/storing';
import { asRead, asSnapshot } from '../access.ts';
import type { OwnerColumns } from '../rows/scope.ts';
import { all, first, type Script } from '../script.ts';
import { mergedInto } from './merges.ts';
import {
  type EntityRow,
  entityFrom,
  OWN_LANE,
  ownerParams,
  SELECT_ENTITIES,
  SHOWN,
  type StatementRow,
  shownRelations,
  statementFrom,
} from './rows.ts';

type OwnedEntity = EntityRow & OwnerColumns;

interface Ids {
  readonly tenant: TenantId;
  readonly ids: readonly string[];
}

export const entitiesById = asRead('graph.entities', entitiesOf);

function* entitiesOf(of: Ids): Script<readonly Entity[]> {
  const rows = yield* all<OwnedEntity>(`${SELECT_ENTITIES} WHERE e.tenant = @tenant AND e.id IN :ids`, { ...of });
  return rows.map(entityFrom);
}

interface Names {
  readonly lane: LaneId;
  readonly names: readonly string[];
}

export const entitiesNamed = asRead('graph.named', function* (of: Names): Script<readonly Entity[]> {
  return (yield* all<OwnedEntity>(SELECT_NAMED, { ...of })).map(entityFrom);
});

export const selfOf = asRead('graph.self', function* ({ lane }: { lane: LaneId }): Script<Entity | null> {
  const row = yield* first<OwnedEntity>(`${SELECT_ENTITIES} WHERE e.lane = @lane AND e.self = 1`, { lane });
  return row === null ? null : entityFrom(row);
});

interface OneOf {
  readonly tenant: TenantId;
  readonly id: string;
}

export const relationById = asRead('graph.relation', function* ({ tenant, id }: OneOf): Script<KeptRelation | null> {
  const [relation] = yield* shownRelations([id]);
  return relation?.tenant === tenant ? relation : null;
});

interface About {
  readonly lane: LaneId;
  readonly entities: readonly string[];
}

interface Said {
  readonly statement: Statement;
  readonly counts: boolean;
}

/** All that name these entities or what was merged into them, in the order they were said. */
export const statementsAbout = asSnapshot('graph.statements', function* (of: About): Script<readonly Said[]> {
  const { lane, entities } = of;
  const merged = yield* mergedInto(lane, entities);
  const ids = [...entities, ...merged.map(({ id }) => id)];
  const rows = yield* all<StatementRow>(SELECT_ABOUT, { lane, ids });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return inOrder([...byId.values()].map(statementFrom)).map((statement) => ({
    statement,
    counts: byId.get(statement.id)?.counts === 1,
  }));
});

interface OwnedBy {
  readonly tenant: TenantId;
  readonly owner: Owner;
}

export const proposalsOf = asSnapshot('graph.proposals', function* (of: OwnedBy): Script<readonly OpenProposal[]> {
  const { tenant, owner } = of;
  const given = ownerParams(tenant, owner);
  const proposed = yield* all<Proposed>(SELECT_PROPOSED, given);
  if (proposed.length === 0) return [];
  const apart = yield* all<SaidApart>(SELECT_APART, given);
  const ids = [...new Set(proposed.flatMap((one) => [one.source, one.destination]))];
  const asked = yield* entitiesOf({ tenant, ids });
  const ends = yield* entitiesOf({ tenant, ids: [...new Set(asked.flatMap(({ mergedInto: end }) => end ?? []))] });
  return openProposals(proposed, apart, new Map([...asked, ...ends].map((entity) => [entity.id, entity])));
});

interface Written {
  readonly lane: LaneId;
  readonly after: number;
}

export const writtenAfter = asRead('graph.writtenAfter', function* (of: Written): Script<number> {
  return (yield* first<{ count: number }>(COUNT_WRITTEN, { ...of }))?.count ?? 0;
});

const SELECT_NAMED = `
  ${SELECT_ENTITIES}
  WHERE e.id IN (SELECT n.entity FROM graph_names n WHERE n.lane = @lane AND n.name IN :names)
    AND e.lane = @lane AND ${SHOWN} ORDER BY e.id`;

const SELECT_ABOUT = `
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND source IN :ids
  UNION ALL
  SELECT id, statement, counts FROM graph_statements WHERE lane = @lane AND destination IN :ids`;

const SELECT_PROPOSED = `
  SELECT p.source, p.destination, p.likeness, p.recorded_at AS "recordedAt" FROM graph_proposals p
  JOIN consolidations c ON c.id = p.consolidation_id AND c.state = 'applied' WHERE p.lane = ${OWN_LANE}`;

/** By the index of what merges. */
const SELECT_APART = `
  SELECT source, recorded_at AS "recordedAt" FROM graph_statements
  WHERE lane = ${OWN_LANE} AND kind IN ('same', 'apart') AND kind = 'apart' AND counts = 1`;

const COUNT_WRITTEN = `
  SELECT count(*) AS count FROM graph_statements
  WHERE lane = @lane AND consolidation_id IS NULL AND counts = 1 AND recorded_at > @after`;

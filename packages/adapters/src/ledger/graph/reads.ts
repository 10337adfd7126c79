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

export function* entitiesById(tenant: TenantId, ids: readonly string[]): Script<readonly Entity[]> {
  const rows = yield* all<OwnedEntity>(`${SELECT_ENTITIES} WHERE e.tenant = @tenant AND e.id IN :ids`, { tenant, ids });
  return rows.map(entityFrom);
}

export function* entitiesNamed(lane: LaneId, names: readonly string[]): Script<readonly Entity[]> {
  return (yield* all<OwnedEntity>(SELECT_NAMED, { lane, names })).map(entityFrom);
}

export function* selfOf(lane: LaneId): Script<Entity | null> {
  const row = yield* first<OwnedEntity>(`${SELECT_ENTITIES} WHERE e.lane = @lane AND e.self = 1`, { lane });
  return row === null ? null : entityFrom(row);
}

export function* relationById(tenant: TenantId, id: string): Script<KeptRelation | null> {
  const [relation] = yield* shownRelations([id]);
  return relation?.tenant === tenant ? relation : null;
}

/** All that name these entities or what was merged into them, in the order they were said. */
export function* statementsAbout(
  lane: LaneId,
  entities: readonly string[],
): Script<readonly { readonly statement: Statement; readonly counts: boolean }[]> {
  const merged = yield* mergedInto(lane, entities);
  const ids = [...entities, ...merged.map(({ id }) => id)];
  const rows = yield* all<StatementRow>(SELECT_ABOUT, { lane, ids });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return inOrder([...byId.values()].map(statementFrom)).map((statement) => ({
    statement,
    counts: byId.get(statement.id)?.counts === 1,
  }));
}

export function* proposalsOf(tenant: TenantId, owner: Owner): Script<readonly OpenProposal[]> {
  const of = ownerParams(tenant, owner);
  const proposed = yield* all<Proposed>(SELECT_PROPOSED, of);
  if (proposed.length === 0) return [];
  const apart = yield* all<SaidApart>(SELECT_APART, of);
  const asked = yield* entitiesById(tenant, [...new Set(proposed.flatMap((one) => [one.source, one.destination]))]);
  const ends = yield* entitiesById(tenant, [...new Set(asked.flatMap(({ mergedInto: end }) => end ?? []))]);
  return openProposals(proposed, apart, new Map([...asked, ...ends].map((entity) => [entity.id, entity])));
}

export function* writtenAfter(lane: LaneId, after: number): Script<number> {
  return (yield* first<{ count: number }>(COUNT_WRITTEN, { lane, after }))?.count ?? 0;
}

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

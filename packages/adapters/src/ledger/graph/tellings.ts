import type { GraphTelling, LaneId, ToldOfGraph } from '@slowwave/engine';
import type { OwnerColumns } from '../rows/scope.ts';
import type { ShownRelation } from './reads.ts';
import { type EntityRow, entityFrom, relationFrom, SELECT_ENTITIES, SELECT_RELATIONS, SHOWN } from './rows.ts';
import { all, run, type Script } from './script.ts';

type Kind = GraphTelling['kind'];

interface UntoldColumn {
  readonly untold_at: number;
}

/** Oldest change first. */
export function* untoldGraph({ lane, limit }: { lane: LaneId | null; limit: number }): Script<readonly GraphTelling[]> {
  const params = { limit, ...(lane === null ? {} : { lane }) };
  const entities = yield* all<EntityRow & OwnerColumns & UntoldColumn>(untoldText('entity', lane), params);
  const relations = yield* all<ShownRelation & UntoldColumn>(untoldText('relation', lane), params);
  const rows = [
    ...entities.map((row) => ({ row, telling: { kind: 'entity', entity: entityFrom(row) } as const })),
    ...relations.map((row) => ({ row, telling: { kind: 'relation', relation: relationFrom(row) } as const })),
  ];
  const sorted = rows.sort((a, b) => a.row.untold_at - b.row.untold_at || (a.row.id < b.row.id ? -1 : 1));
  return sorted.slice(0, limit).map(({ telling }) => telling);
}

/** What has changed since stays untold. In one order, whoever does it: two that wait for each other would be one too many. */
export function* tellGraph({ of }: { of: readonly ToldOfGraph[] }): Script<void> {
  for (const { kind, id, revision } of of.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    yield* run(`UPDATE ${TABLES[kind]} SET untold_at = NULL WHERE id = @id AND revision = @revision`, { id, revision });
  }
}

/** A slice of what counts is untold again, under a new revision: what is told to the lost index meanwhile is told anew. */
export function* refillGraph(input: {
  readonly kind: Kind;
  readonly after: string;
  readonly limit: number;
}): Script<{ last: string | null; filled: number }> {
  const { kind, after, limit } = input;
  const rows = yield* all<{ id: string }>(everyId(kind), { after, limit });
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) {
    yield* run(
      `UPDATE ${TABLES[kind]} SET untold_at = coalesce(untold_at, 0), revision = revision + 1 WHERE id IN :ids`,
      { ids },
    );
  }
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

/** What counts and stands for itself, in the order of ids. */
export function* everyOfGraph(kind: Kind, after: string | null, limit: number): Script<readonly GraphTelling[]> {
  const ids = (yield* all<{ id: string }>(everyId(kind), { after: after ?? '', limit })).map(({ id }) => id);
  if (kind === 'entity') {
    const rows = yield* all<EntityRow & OwnerColumns>(`${SELECT_ENTITIES} WHERE e.id IN :ids ORDER BY e.id`, { ids });
    return rows.map((row) => ({ kind, entity: entityFrom(row) }));
  }
  const rows = yield* all<ShownRelation>(`${SELECT_RELATIONS} WHERE r.id IN :ids ORDER BY r.id`, { ids });
  return rows.map((row) => ({ kind, relation: relationFrom(row) }));
}

const TABLES: Readonly<Record<Kind, string>> = { entity: 'graph_entities', relation: 'graph_relations' };

const untoldText = (kind: Kind, lane: LaneId | null): string => {
  const [select, x] = kind === 'entity' ? [SELECT_ENTITIES, 'e'] : [SELECT_RELATIONS, 'r'];
  const own = lane === null ? '' : `AND ${x}.lane = @lane`;
  return `${select} WHERE ${x}.untold_at IS NOT NULL ${own} ORDER BY ${x}.untold_at, ${x}.id LIMIT @limit`;
};

const everyId = (kind: Kind): string => {
  const [x, shown] = kind === 'entity' ? ['e', SHOWN] : ['r', 'r.counts = 1'];
  return `
    SELECT ${x}.id FROM ${TABLES[kind]} ${x} JOIN lanes l ON l.id = ${x}.lane AND l.erasure IS NULL
    WHERE ${x}.id > @after AND ${shown} ORDER BY ${x}.id LIMIT @limit`;
};

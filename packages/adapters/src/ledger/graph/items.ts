import type { GraphItem, LaneId, ProjectedItem } from '@slowwave/engine';
import { asSnapshot, asWrite } from '../access.ts';
import type { Refilled, SliceAfter } from '../in-slices.ts';
import type { OwnerColumns } from '../rows/scope.ts';
import { all, run, type Script, together } from '../script.ts';
import { notAside } from '../speech.ts';
import { type EntityRow, entityFrom, SELECT_ENTITIES, SHOWN, shownRelations } from './rows.ts';

type Kind = GraphItem['kind'];

interface UnprojectedRow {
  readonly id: string;
  readonly unprojected_at: number;
}

interface Unprojected {
  readonly lane: LaneId | null;
  readonly limit: number;
}

/** Oldest change first. */
export const unprojectedGraph = asSnapshot('graph.unprojected', function* (of: Unprojected): Script<
  readonly GraphItem[]
> {
  const { lane, limit } = of;
  const given = { limit, ...(lane === null ? {} : { lane }) };
  const [entities, relations] = yield* together(
    all<UnprojectedRow>(unprojectedText('entity', lane), given),
    all<UnprojectedRow>(unprojectedText('relation', lane), given),
  );
  const rows = [...entities, ...relations].sort(
    (a, b) => a.unprojected_at - b.unprojected_at || (a.id < b.id ? -1 : 1),
  );
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const first = new Set(ids);
  const among = (found: readonly UnprojectedRow[]): string[] => found.map(({ id }) => id).filter((id) => first.has(id));
  const shown = yield* together(itemsOf('entity', among(entities)), itemsOf('relation', among(relations)));
  const byId = new Map(shown.flat().map((one) => [one.kind === 'entity' ? one.entity.id : one.relation.id, one]));
  return ids.flatMap((id) => byId.get(id) ?? []);
});

function* itemsOf(kind: Kind, ids: readonly string[]): Script<readonly GraphItem[]> {
  if (ids.length === 0) return [];
  if (kind === 'relation') return (yield* shownRelations(ids)).map((relation) => ({ kind, relation }));
  const rows = yield* all<EntityRow & OwnerColumns>(`${SELECT_ENTITIES} WHERE e.id IN :ids ORDER BY e.id`, { ids });
  return rows.map((row) => ({ kind, entity: entityFrom(row) }));
}

/** What has changed since stays unprojected. In one order, whoever does it: two that wait for each other would be one too many. */
export const noteProjected = asWrite('graph.projected', function* (of: readonly ProjectedItem[]): Script<void> {
  const projected = of.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  yield* together(
    ...projected.map(({ kind, id, revision }) =>
      run(`UPDATE ${TABLES[kind]} SET unprojected_at = NULL WHERE id = @id AND revision = @revision`, { id, revision }),
    ),
  );
});

interface Slice extends SliceAfter {
  readonly kind: Kind;
}

/** A slice of what counts is unprojected again, under a new revision: what is projected to the lost index meanwhile is projected again. */
export const refillGraph = asWrite('graph.refill', function* ({ kind, after, limit }: Slice): Script<Refilled> {
  const rows = yield* all<{ id: string }>(everyId(kind), { after, limit });
  const ids = rows.map(({ id }) => id);
  const again = `UPDATE ${TABLES[kind]} SET unprojected_at = coalesce(unprojected_at, 0), revision = revision + 1 WHERE id IN :ids`;
  if (ids.length > 0) yield* run(again, { ids });
  return { last: ids.at(-1) ?? null, filled: ids.length };
});

interface Every {
  readonly kind: Kind;
  readonly after: string | null;
  readonly limit: number;
}

/** What counts and stands for itself, in the order of ids. */
export const everyOfGraph = asSnapshot('graph.every', function* (of: Every): Script<readonly GraphItem[]> {
  const { kind, after, limit } = of;
  const ids = (yield* all<{ id: string }>(everyId(kind), { after: after ?? '', limit })).map(({ id }) => id);
  return yield* itemsOf(kind, ids);
});

const TABLES: Readonly<Record<Kind, string>> = { entity: 'graph_entities', relation: 'graph_relations' };

function countText(kind: Kind): string {
  return `SELECT count(*) ${fromUnprojected(kind)}`;
}

function fromUnprojected(kind: Kind): string {
  return `FROM ${TABLES[kind]} x JOIN lanes l ON l.id = x.lane AND l.erasure IS NULL WHERE x.unprojected_at IS NOT NULL`;
}

const unprojectedText = (kind: Kind, lane: LaneId | null): string => `
  SELECT x.id, x.unprojected_at ${fromUnprojected(kind)} AND ${lane === null ? notAside('x.lane') : 'x.lane = @lane'} ORDER BY x.unprojected_at, x.id LIMIT @limit`;

/** How much of the graph is still to be projected. */
export const COUNT_UNPROJECTED_GRAPH = `
  SELECT (${countText('entity')}) + (${countText('relation')}) AS count`;

const everyId = (kind: Kind): string => {
  const [x, shown] = kind === 'entity' ? ['e', SHOWN] : ['r', 'r.counts = 1'];
  return `
    SELECT ${x}.id FROM ${TABLES[kind]} ${x} JOIN lanes l ON l.id = ${x}.lane AND l.erasure IS NULL
    WHERE ${x}.id > @after AND ${shown} ORDER BY ${x}.id LIMIT @limit`;
};

import type { GraphItem, LaneId, ProjectedItem } from '@slowwave/engine';
import type { Refilled, SliceAfter } from '../in-slices.ts';
import { all, allAs, idsOf, run, type Script, together } from '../script.ts';
import { notAside } from '../speech.ts';
import { entityFrom, SELECT_ENTITIES, SHOWN, shownRelations } from './rows.ts';

type Kind = GraphItem['kind'];

interface UnprojectedRow {
  readonly id: string;
  readonly unprojected_at: number;
}

/** Oldest change first. Of all lanes: without those that are set aside. */
export function* unprojectedGraph(lane: LaneId | null, limit: number): Script<readonly GraphItem[]> {
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
}

function* itemsOf(kind: Kind, ids: readonly string[]): Script<readonly GraphItem[]> {
  if (ids.length === 0) return [];
  if (kind === 'relation') return (yield* shownRelations(ids)).map((relation) => ({ kind, relation }));
  const entities = yield* allAs(entityFrom, `${SELECT_ENTITIES} WHERE e.id IN :ids ORDER BY e.id`, { ids });
  return entities.map((entity) => ({ kind, entity }));
}

/** What has changed since stays unprojected. In one order, whoever does it: two that wait for each other would be one too many. */
export function* noteProjected(of: readonly ProjectedItem[]): Script<void> {
  const projected = of.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  yield* together(
    ...projected.map(({ kind, id, revision }) =>
      run(`UPDATE ${TABLES[kind]} SET unprojected_at = NULL WHERE id = @id AND revision = @revision`, { id, revision }),
    ),
  );
}

/** A slice of what counts is unprojected again, under a new revision: what is projected to the lost index meanwhile is projected again. */
export function* refillGraph(kind: Kind, { after, limit }: SliceAfter): Script<Refilled> {
  const ids = yield* idsOf(everyId(kind), { after, limit });
  const again = `UPDATE ${TABLES[kind]} SET unprojected_at = coalesce(unprojected_at, 0), revision = revision + 1 WHERE id IN :ids`;
  if (ids.length > 0) yield* run(again, { ids });
  return { last: ids.at(-1) ?? null, filled: ids.length };
}

/** What counts and stands for itself, in the order of ids. */
export function* everyOfGraph(kind: Kind, after: string | null, limit: number): Script<readonly GraphItem[]> {
  return yield* itemsOf(kind, yield* idsOf(everyId(kind), { after: after ?? '', limit }));
}

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

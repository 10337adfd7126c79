import type { GraphTelling, LaneId, ToldOfGraph } from '@slowwave/engine';
import { asSnapshot, asWrite } from '../access.ts';
import type { Refilled, SliceAfter } from '../in-slices.ts';
import type { OwnerColumns } from '../rows/scope.ts';
import { all, run, type Script, together } from '../script.ts';
import { notAside } from '../speech.ts';
import { type EntityRow, entityFrom, SELECT_ENTITIES, SHOWN, shownRelations } from './rows.ts';

type Kind = GraphTelling['kind'];

interface UntoldRow {
  readonly id: string;
  readonly untold_at: number;
}

interface Untold {
  readonly lane: LaneId | null;
  readonly limit: number;
}

/** Oldest change first. */
export const untoldGraph = asSnapshot('graph.untold', function* (of: Untold): Script<readonly GraphTelling[]> {
  const { lane, limit } = of;
  const given = { limit, ...(lane === null ? {} : { lane }) };
  const [entities, relations] = yield* together(
    all<UntoldRow>(untoldText('entity', lane), given),
    all<UntoldRow>(untoldText('relation', lane), given),
  );
  const rows = [...entities, ...relations].sort((a, b) => a.untold_at - b.untold_at || (a.id < b.id ? -1 : 1));
  const ids = rows.slice(0, limit).map(({ id }) => id);
  const first = new Set(ids);
  const among = (found: readonly UntoldRow[]): string[] => found.map(({ id }) => id).filter((id) => first.has(id));
  const shown = yield* together(tellingsOf('entity', among(entities)), tellingsOf('relation', among(relations)));
  const byId = new Map(shown.flat().map((one) => [one.kind === 'entity' ? one.entity.id : one.relation.id, one]));
  return ids.flatMap((id) => byId.get(id) ?? []);
});

function* tellingsOf(kind: Kind, ids: readonly string[]): Script<readonly GraphTelling[]> {
  if (ids.length === 0) return [];
  if (kind === 'relation') return (yield* shownRelations(ids)).map((relation) => ({ kind, relation }));
  const rows = yield* all<EntityRow & OwnerColumns>(`${SELECT_ENTITIES} WHERE e.id IN :ids ORDER BY e.id`, { ids });
  return rows.map((row) => ({ kind, entity: entityFrom(row) }));
}

/** What has changed since stays untold. In one order, whoever does it: two that wait for each other would be one too many. */
export const tellGraph = asWrite('graph.told', function* (of: readonly ToldOfGraph[]): Script<void> {
  const told = of.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  yield* together(
    ...told.map(({ kind, id, revision }) =>
      run(`UPDATE ${TABLES[kind]} SET untold_at = NULL WHERE id = @id AND revision = @revision`, { id, revision }),
    ),
  );
});

interface Slice extends SliceAfter {
  readonly kind: Kind;
}

/** A slice of what counts is untold again, under a new revision: what is told to the lost index meanwhile is told anew. */
export const refillGraph = asWrite('graph.refill', function* ({ kind, after, limit }: Slice): Script<Refilled> {
  const rows = yield* all<{ id: string }>(everyId(kind), { after, limit });
  const ids = rows.map(({ id }) => id);
  const again = `UPDATE ${TABLES[kind]} SET untold_at = coalesce(untold_at, 0), revision = revision + 1 WHERE id IN :ids`;
  if (ids.length > 0) yield* run(again, { ids });
  return { last: ids.at(-1) ?? null, filled: ids.length };
});

interface Every {
  readonly kind: Kind;
  readonly after: string | null;
  readonly limit: number;
}

/** What counts and stands for itself, in the order of ids. */
export const everyOfGraph = asSnapshot('graph.every', function* (of: Every): Script<readonly GraphTelling[]> {
  const { kind, after, limit } = of;
  const ids = (yield* all<{ id: string }>(everyId(kind), { after: after ?? '', limit })).map(({ id }) => id);
  return yield* tellingsOf(kind, ids);
});

const TABLES: Readonly<Record<Kind, string>> = { entity: 'graph_entities', relation: 'graph_relations' };

function countText(kind: Kind): string {
  return `SELECT count(*) ${fromUntold(kind)}`;
}

function fromUntold(kind: Kind): string {
  return `FROM ${TABLES[kind]} x JOIN lanes l ON l.id = x.lane AND l.erasure IS NULL WHERE x.untold_at IS NOT NULL`;
}

const untoldText = (kind: Kind, lane: LaneId | null): string => `
  SELECT x.id, x.untold_at ${fromUntold(kind)} AND ${lane === null ? notAside('x.lane') : 'x.lane = @lane'} ORDER BY x.untold_at, x.id LIMIT @limit`;

/** How much of the graph the index is still to be told of. */
export const COUNT_UNTOLD_GRAPH = `
  SELECT (${countText('entity')}) + (${countText('relation')}) AS untold`;

const everyId = (kind: Kind): string => {
  const [x, shown] = kind === 'entity' ? ['e', SHOWN] : ['r', 'r.counts = 1'];
  return `
    SELECT ${x}.id FROM ${TABLES[kind]} ${x} JOIN lanes l ON l.id = ${x}.lane AND l.erasure IS NULL
    WHERE ${x}.id > @after AND ${shown} ORDER BY ${x}.id LIMIT @limit`;
};

import type { LaneId, Standing } from '@slowwave/engine';
import { endsOf, standingOf } from '@slowwave/engine/storing';
import { all, run, type Script } from '../script.ts';
import { type StatementRow, statementFrom } from './rows.ts';

/** An entity that stands for another one than it did. */
export interface Moved {
  readonly id: string;
  /** What it stood for. */
  readonly from: string;
  readonly to: string;
}

/** Follows the merges of a lane anew. Merges are few beside relations. */
export function* moveMerged(lane: LaneId): Script<readonly Moved[]> {
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
export function* standingsOf(lane: LaneId, ids: Iterable<string>): Script<Standing> {
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

const SELECT_SELF = 'SELECT id FROM graph_entities WHERE lane = @lane AND self = 1';

const SELECT_MERGED = 'SELECT id, name, merged_into FROM graph_entities WHERE lane = @lane AND merged_into IS NOT NULL';

const SELECT_STANDING = 'SELECT id, merged_into FROM graph_entities WHERE lane = @lane AND id IN :ids';

const SELECT_MEMBERS = 'SELECT id, name, merged_into FROM graph_entities WHERE lane = @lane AND merged_into IN :ids';

const MOVE = 'UPDATE graph_entities SET merged_into = @into WHERE lane = @lane AND id = @id';

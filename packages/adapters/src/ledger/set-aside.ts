import type { LaneId, SetAside } from '@slowwave/engine';
import { all, first, insert, run, type Script, type Table } from './script.ts';
import { LOST } from './speech.ts';

/** Lanes whose changes could not be told to the index, with when each is tried again. */
export function* setAside(lanes: readonly SetAside[]): Script<void> {
  const ids = lanes.map(({ lane }) => lane);
  const standing = yield* all<{ id: LaneId }>('SELECT id FROM lanes WHERE id IN :ids AND erasure IS NULL', { ids });
  const stand = new Set(standing.map(({ id }) => id));
  const rows = lanes.filter(({ lane }) => stand.has(lane)).map(rowOf);
  // In one order, whoever does it: two that wait for each other would be one too many.
  yield* insert(
    UNTOLD_LANES,
    rows.toSorted((a, b) => (a.lane < b.lane ? -1 : 1)),
  );
}

export function* takeUp(lanes: readonly LaneId[]): Script<void> {
  if (lanes.length > 0) yield* run('DELETE FROM untold_lanes WHERE lane IN :lanes', { lanes });
}

/** Those to be tried again until then, first ones first. */
export function* lanesAside({ until, limit }: { until: number; limit: number }): Script<readonly SetAside[]> {
  const text = 'SELECT * FROM untold_lanes WHERE not_before <= @until ORDER BY not_before, lane LIMIT @limit';
  return (yield* all<Row>(text, { until, limit })).map(({ lane, failures, not_before, code, message, at }) => ({
    ...{ lane, failures, notBefore: not_before },
    failure: { code, message, at },
  }));
}

export function* countAside(): Script<number> {
  return (yield* first<{ lanes: number }>('SELECT count(*) AS lanes FROM untold_lanes'))?.lanes ?? 0;
}

/** All of a lane again. Entries get new numbers: one that was read before may still be told, and cleared. */
export function* retell(lane: LaneId): Script<void> {
  yield* run('DELETE FROM outbox WHERE lane = @lane AND consolidation_id IS NULL', { lane });
  yield* run(
    `INSERT INTO outbox (memory_id, tenant, lane)
     SELECT m.id, m.tenant, m.lane FROM memories m JOIN lanes l ON l.id = m.lane AND l.erasure IS NULL
     WHERE m.lane = @lane ORDER BY m.id`,
    { lane },
  );
  yield* run(
    `UPDATE batches SET told_revision = ${LOST}, speech_revision = speech_revision + 1
     WHERE lane = @lane AND outcome IS NOT NULL`,
    { lane },
  );
  for (const table of ['graph_entities', 'graph_relations']) {
    const again = 'untold_at = coalesce(untold_at, 0), revision = revision + 1';
    yield* run(`UPDATE ${table} SET ${again} WHERE lane = @lane AND counts = 1`, { lane });
  }
}

interface Row {
  readonly lane: LaneId;
  readonly failures: number;
  readonly not_before: number;
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

const rowOf = ({ lane, failures, notBefore, failure: { code, message, at } }: SetAside): Row => ({
  ...{ lane, failures, not_before: notBefore, code, message, at },
});

const UNTOLD_LANES: Table<keyof Row> = {
  name: 'untold_lanes',
  columns: { lane: 'text', failures: 'bigint', not_before: 'bigint', code: 'text', message: 'text', at: 'bigint' },
  onConflict: `ON CONFLICT (lane) DO UPDATE SET failures = excluded.failures, not_before = excluded.not_before,
    code = excluded.code, message = excluded.message, at = excluded.at`,
};

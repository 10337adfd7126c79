import type { LaneId, Stored, StoredAnswer, Study, TenantId } from '@slowwave/engine';
import { holdsStudy, requestStudy as requesting } from '../../../ledger/graph/studies.ts';
import type { Script } from '../../../ledger/script.ts';
import { keepAnswer } from '../../../ledger/thoughts.ts';
import { runScript } from '../script.ts';
import type { Sql } from '../sql.ts';
import { lockLane } from './lanes.ts';

/** Changes a lane's graph or its studies under the lock of the lane, as whatever changes a lane does. */
export async function changeLane<T>(sql: Sql, lane: LaneId, script: Script<T>): Promise<T> {
  await lockLane(sql, lane);
  return runScript(sql, script);
}

/** Keeps the answer of a study among those of its consolidation. */
export async function storeStudyAnswer(
  sql: Sql,
  { study, answer }: { study: Study; answer: StoredAnswer },
): Promise<Stored> {
  if (!(await changeLane(sql, study.lane, holdsStudy(study)))) return { kind: 'fenced' };
  await runScript(sql, keepAnswer(study, answer));
  return { kind: 'stored' };
}

export async function requestStudy(
  sql: Sql,
  given: { tenant: TenantId; consolidationId: string; now: number },
): Promise<LaneId | null> {
  const { tenant, consolidationId: id } = given;
  const row = await sql.get<{ lane: LaneId }>(SELECT_LANE, { tenant, id });
  return row === null ? null : changeLane(sql, row.lane, requesting(given));
}

const SELECT_LANE = 'SELECT lane FROM consolidations WHERE tenant = @tenant AND id = @id';

import type { LaneId, OwnerKind, Replay, TenantId } from '@slowwave/engine';
import { withoutOwner } from '@slowwave/engine/storing';
import type { ColumnsOf } from './rows/columns.ts';
import { all, run, type Script } from './script.ts';

/**
 * What is forgotten is said by no suite any more: cases that hold one of these memories or messages go, and so do the spaces of their
 * runs and what reports quote of their owner. Figures stay. Needs the lock of the lane.
 */
export function* forgetInSuites(
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  ids: readonly string[],
): Script<void> {
  const cases = yield* all<CaseOfLane>(SELECT_CASES, { lane });
  const gone = cases.filter(({ content }) => holdsAny(content, ids));
  const [first] = gone;
  if (first === undefined) return;
  yield* run('DELETE FROM suite_cases WHERE id IN :ids', { ids: gone.map(({ id }) => id) });
  const owner = { kind: first.owner_kind, id: first.owner_id };
  const suites = gone.map(({ suite_id: suite }) => suite);
  yield* forgetInRuns({ tenant, suites }, (told) => (withoutOwner(told, owner) ?? told).result);
}

/** The spaces of runs of these suites go, and what reports say that is not left of them. */
export function* forgetInRuns(
  { tenant, suites }: { readonly tenant: TenantId; readonly suites: readonly string[] },
  left: (told: Pick<Replay, 'filter' | 'result'>) => Replay['result'],
): Script<void> {
  for (const row of yield* all<RunRow>(SELECT_RUNS, { tenant })) {
    const filter = JSON.parse(row.filter);
    if (!suites.includes(filter.suite)) continue;
    const result = left({ filter, result: row.result === null ? null : JSON.parse(row.result) });
    yield* run(FORGET_RUN, { id: row.id, result: result && JSON.stringify(result) });
  }
}

/** Whether the content of a case says anything of these memories and messages. */
export const holdsAny = (content: string, ids: readonly string[]): boolean => ids.some((id) => content.includes(id));

interface CaseOfLane {
  readonly id: string;
  readonly suite_id: string;
  readonly owner_kind: OwnerKind;
  readonly owner_id: string;
  readonly content: string;
}

const SELECT_CASES = 'SELECT id, suite_id, owner_kind, owner_id, content FROM suite_cases WHERE lane = @lane';

type RunRow = Pick<ColumnsOf<Replay, 'filter' | 'result'>, 'id' | 'filter' | 'result'>;

const SELECT_RUNS =
  "SELECT id, filter, result FROM replays WHERE tenant = @tenant AND kind = 'suite' ORDER BY id FOR UPDATE";

const FORGET_RUN = `
  UPDATE replays SET result = @result::jsonb,
    due_at = CASE WHEN state <> 'discarded' THEN 0 ELSE due_at END,
    state = CASE WHEN state <> 'discarded' THEN 'discarding' ELSE state END
  WHERE id = @id`;

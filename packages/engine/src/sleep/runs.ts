import type { EngineDeps } from '../deps.ts';
import { attacksIn } from '../messages/attacks.ts';
import type { Remark } from '../plan.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { Paged } from '../ports/ledger/ledger.ts';
import type { TaskState } from '../ports/ledger/task-states.ts';
import { outcomeOf } from '../tasks/outcome.ts';
import type { TaskDocument } from '../tasks/task.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Desk } from './drafts.ts';
import { runKey, type Sight } from './sight.ts';

/*
 * What runs came to becomes memories of their owner, by rule: in the words of the state in which a run ended, which the memory names as
 * its source. Nothing is made up, and no model is asked.
 */

/** Of larger owners, those that ended last. */
const RUNS_MAX = 500;
/** A state may have 64,000 characters. */
const PAGE = 20;

interface Remembering {
  readonly night: Pick<Night, 'tenant' | 'lane'>;
  readonly desk: Desk;
  readonly sight: Sight;
  /** How many acts there may be. */
  readonly most: number;
}

interface Remembered {
  readonly remarks: readonly Remark[];
  /** Those that were looked at, in this night or before. */
  readonly runs: readonly RunName[];
}

/** A run apart from another one that had its id before. */
export type RunName = Pick<TaskState, 'runId' | 'createdAt'>;

/** Each run that ended, once: those that ended first come first. */
export async function rememberRuns(deps: EngineDeps, { night, desk, sight, most }: Remembering): Promise<Remembered> {
  const runs: RunName[] = [];
  const news: TaskState[] = [];
  for await (const state of endedOf(deps, night)) {
    runs.push({ runId: state.runId, createdAt: state.createdAt });
    if (!sight.has(runKey(state))) news.push(state);
  }
  const remarks: Remark[] = [];
  for (const state of news.toReversed()) {
    if (desk.drafts.length >= most) break;
    sight.judge(runKey(state));
    const refusal = await remember(deps, { night, desk, state });
    if (refusal !== null)
      remarks.push({ asked: `remember the result of run ${state.runId}`, did: `refused: ${refusal}` });
  }
  return { remarks, runs };
}

/** Last ended first. */
async function* endedOf(
  { ledger }: EngineDeps,
  { tenant, lane }: Remembering['night'],
): AsyncGenerator<TaskState, void, void> {
  let cursor: string | null = null;
  for (let read = 0; read < RUNS_MAX; read += PAGE) {
    const page: Paged<TaskState> = await ledger.taskStates.list(tenant, { lane, ended: true }, { limit: PAGE, cursor });
    yield* page.results;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

/** Why not; null: it is, or there is nothing to say of it. */
async function remember(
  { ledger, tools }: EngineDeps,
  { night, desk, state }: Pick<Remembering, 'night' | 'desk'> & { readonly state: TaskState },
): Promise<string | null> {
  if (state.paused) return 'some of it was written while memory was paused for its owner';
  const text = outcomeOf(state.document as TaskDocument);
  if (text === null) return null;
  if (attacksIn(text).length > 0) return 'it addresses a model';
  const tombstones = await ledger.memories.tombstones(night.lane, [tools.hash(normaliseText(text))]);
  if (tombstones.some(({ deletedAt }: Tombstone) => deletedAt.at >= (state.endedAt ?? 0))) return 'somebody deleted it';
  desk.remember(state, text);
  return null;
}

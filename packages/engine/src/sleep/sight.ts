import type { EngineDeps } from '../deps.ts';
import { attacksIn } from '../messages/messages.ts';
import type { Remark } from '../plan.ts';
import type { Paged } from '../ports/ledger/ledger.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TaskState } from '../ports/ledger/task-states.ts';
import type { Tools } from '../ports/tools.ts';
import type { SleepAct } from '../settings.ts';
import { outcomeOf, type TaskDocument } from '../task.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory } from '../words.ts';
import type { Desk, Live } from './drafts.ts';

/** Enough of a hash to distinguish what one owner has. */
const KEY_LENGTH = 16;

/** What is judged of a memory: an act by rule, a proposal to forget it, what it has to do with its neighbours, or that a skill fails. */
export type Judged = SleepAct | 'forget' | 'neighbours' | 'fails';

type KeyOf = (tools: Pick<Tools, 'hash'>) => string;

/** Of what a memory says: said otherwise, it is judged anew. */
export const actKey =
  (act: Judged, { memory, version }: Live): KeyOf =>
  ({ hash }) =>
    hash(JSON.stringify([act, memory.id, normaliseText(version.text)])).slice(0, KEY_LENGTH);

const ALL: readonly Judged[] = ['age', 'fade', 'forget', 'neighbours', 'patterns', 'skills', 'fails'];

/** Of a place in the profile, by the slots there are. */
export const placeKey =
  (schema: string, { memory, version }: Live): KeyOf =>
  ({ hash }) =>
    hash(JSON.stringify(['place', schema, memory.id, normaliseText(version.text)])).slice(0, KEY_LENGTH);

/** Of a conclusion that fell: what is left of its evidence is judged once more. */
export const fallKey =
  (memory: Memory): KeyOf =>
  ({ hash }) =>
    hash(JSON.stringify(['fall', memory.id, memory.revision])).slice(0, KEY_LENGTH);

/** Of a run that ended: what it came to is remembered once. */
const runKey =
  ({ runId, createdAt }: RunName): KeyOf =>
  ({ hash }) =>
    hash(JSON.stringify(['run', runId, createdAt])).slice(0, KEY_LENGTH);

interface Kept {
  /** Those that hold, as they were and as a night leaves them. */
  readonly lives: readonly Live[];
  readonly fallen: readonly Memory[];
  readonly runs: readonly RunName[];
  /** The slots of the profile. */
  readonly schema: string;
}

/**
 * What nights have judged, whatever came of it. Nothing is judged twice, so that nights without news change nothing and ask
 * nobody, and what somebody undid or did not want is not done again.
 */
export class Sight {
  readonly #seen: Set<string>;
  readonly #tools: Pick<Tools, 'hash'>;

  constructor(tools: Pick<Tools, 'hash'>, seen: readonly string[]) {
    this.#tools = tools;
    this.#seen = new Set(seen);
  }

  has(key: KeyOf): boolean {
    return this.#seen.has(key(this.#tools));
  }

  /** Notes that it is judged. Whether it was not before. */
  judge(key: KeyOf): boolean {
    const isNew = !this.has(key);
    this.#seen.add(key(this.#tools));
    return isNew;
  }

  /** What is still of use: of memories that hold, of conclusions that fell, of runs that are there, and of places by these slots. */
  kept({ lives, fallen, runs, schema }: Kept): readonly string[] {
    const all = [
      ...lives.flatMap((live) => ALL.map((act) => actKey(act, live))),
      ...fallen.map(fallKey),
      ...runs.map(runKey),
      ...lives.map((live) => placeKey(schema, live)),
    ];
    const keys = all.map((key) => key(this.#tools));
    return [...new Set(keys)].filter((key) => this.#seen.has(key));
  }
}

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
type RunName = Pick<TaskState, 'runId' | 'createdAt'>;

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

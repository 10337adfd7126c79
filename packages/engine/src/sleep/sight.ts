import type { TaskState } from '../ports/ledger/task-states.ts';
import type { Tools } from '../ports/tools.ts';
import type { SleepAct } from '../settings.ts';
import { normaliseText } from '../text/normalise.ts';
import type { Memory } from '../words.ts';
import type { Live } from './drafts.ts';

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

/** A run apart from another one that had its id before. */
export type RunName = Pick<TaskState, 'runId' | 'createdAt'>;

/** Of a run that ended: what it came to is remembered once. */
export const runKey =
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

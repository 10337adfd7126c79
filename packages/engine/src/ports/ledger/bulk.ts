import type { Failure, JsonObject, LaneId, Millis } from '../../words.ts';
import type { ChatCall } from '../models.ts';
import type { Nudge } from '../schedule.ts';
import type { Fenced, Turn } from './lanes.ts';
import type { StoredAnswer } from './thoughts.ts';
import type { CallFor, SentCall, SettledCall } from './usage.ts';

/** A question that may be asked with others, in a job of the provider. */
export interface NewBulkQuestion {
  readonly id: string;
  /** Under which its answer is kept. */
  readonly step: string;
  readonly inputHash: string;
  readonly call: BulkCall;
  readonly counted: BulkCounted;
  readonly now: Millis;
  /** When the turn comes back by itself, whatever became of the job. */
  readonly until: Millis;
  /** Shown on the batches that wait. */
  readonly why: Failure;
}

/** For whom it is counted, and what it is thought to use. */
export type BulkCounted = CallFor & Pick<SentCall, 'model' | 'usage' | 'cost'>;

/** What is kept of a call until it is answered. */
export type BulkCall = Pick<ChatCall, 'name' | 'system' | 'user' | 'schema'>;

export interface BulkQuestion {
  readonly id: string;
  readonly lane: LaneId;
  readonly step: string;
  readonly inputHash: string;
  /** Failed tries of its window when it was asked. */
  readonly attempts: number;
  readonly call: BulkCall;
  readonly counted: BulkCounted;
}

/** An answer, and its call. */
export interface BulkAnswered {
  readonly answer: StoredAnswer;
  readonly call: SettledCall;
}

/**
 *   created      its questions are gathered; nothing is known of it at the provider, or that was not noted yet
 *   submitted    the provider works on it
 *   cancelling   nobody wants it any more: all its questions were taken back, or somebody in it is erased
 *   cleaning     its answers are stored; its files at the provider go, and then the job
 */
export type BulkState = 'created' | 'submitted' | 'cancelling' | 'cleaning';

export interface BulkJob {
  readonly id: string;
  readonly state: BulkState;
  /** How the provider calls it and its files; null: not noted yet. */
  readonly remote: JsonObject | null;
  /** Attempts in a row that came to nothing. */
  readonly tries: number;
  readonly createdAt: Millis;
}

export interface BulkStep {
  readonly state: BulkState;
  readonly remote: JsonObject | null;
  readonly tries: number;
  readonly dueAt: Millis;
}

/** Questions of backfill that wait for a provider's job: many at once, at a lower price. */
export interface BulkStore {
  /**
   * Lets a turn's question wait for a job, where nothing but backfill is in its lane: the lane is due again at `until`, or when it
   * is answered. `ask`: it is to be asked now, because somebody lives in the lane or it waited in vain before.
   */
  ask(turn: Turn, question: NewBulkQuestion): Promise<{ readonly kind: 'waits' | 'ask' } | Fenced>;
  /**
   * A new job of questions that wait, of at most so many and so many characters, once the oldest has waited since `before`. null:
   * none has.
   */
  gather(job: { id: string; before: Millis; limit: number; charsMax: number; now: Millis }): Promise<BulkJob | null>;
  /** One that is due, and nobody else's before `until`. */
  take(now: Millis, until: Millis): Promise<BulkJob | null>;
  /** Of a job, those that nobody has taken back and that are not answered. */
  open(jobId: string): Promise<readonly BulkQuestion[]>;
  /** Of a job, all that were asked, and are somebody's still. */
  asked(jobId: string): Promise<readonly BulkQuestion[]>;
  /** null: the job is over. A job that somebody has cancelled meanwhile stays so: false. */
  move(job: Pick<BulkJob, 'id' | 'state'>, step: BulkStep | null): Promise<boolean>;
  /**
   * What the provider answered is kept with the other answers of the consolidation, and its call settled; null: it gave none, and
   * the question is asked by itself. The lane is due now, unless the window was taken back: then the answer is only kept, under
   * a name of its own where somebody else's was there before.
   */
  answer(id: string, answered: BulkAnswered | null, now: Millis): Promise<Nudge | null>;
  /** The first live message of an owner takes its window back from the job. */
  takeBack(now: Millis, limit: number): Promise<readonly Nudge[]>;
  /** Whatever waits for jobs is asked by itself: there is nobody to give them to any more. */
  abandon(now: Millis, limit: number): Promise<readonly Nudge[]>;
  /** Jobs that hold a question of this lane are wanted by nobody: what was sent of it is to be deleted at the provider. */
  cancel(lane: LaneId, now: Millis): Promise<void>;
  /** How many jobs are still to be deleted at the provider since somebody in them was erased. */
  erasing(): Promise<number>;
  /** Removes what was answered or taken back before. Answers with how many. */
  drop(before: Millis, limit: number): Promise<number>;
}

import type { Plan } from '../../plan.ts';
import type { Failure, JsonObject, LaneId, Message, Millis, Owner, Scope, TenantId, Trust } from '../../words.ts';
import type { ChatCall, TokenUse } from '../models.ts';
import type { Nudge } from '../schedule.ts';
import type { Fenced, Turn } from './lanes.ts';
import type { Page, Paged, Terms } from './ledger.ts';
import type { CallFor, Room, SentCall, SettledCall } from './usage.ts';

/** What a consolidation reads of the conversation, with what holds for its tenant. */
export interface Gathered extends Terms {
  /** The messages of the pinned batches, in lane order. */
  readonly messages: readonly Message[];
  /** Metadata of each pinned batch, by batch id. */
  readonly metadata: ReadonlyMap<string, JsonObject>;
  /** The scope's rolling summary, as it stood when the window was pinned. */
  readonly summary: string | null;
  /** Whose word it is: of the least sure that summaries of the scope were ever made of. */
  readonly summaryTrust: Trust | null;
  /** The scope's last messages before the pinned ones, oldest first, each once: without resent copies; already consolidated, and not undone. */
  readonly recent: readonly Message[];
  /** What the consolidation has thought so far. */
  readonly thought: Thought;
}

/** Its newest plan, and the answers of models in the order they came. */
export interface Thought {
  readonly plan: Plan | null;
  readonly answers: readonly StoredAnswer[];
  /** Those of consolidations of the same batches that were undone: to the same question they are the answer. */
  readonly former: readonly StoredAnswer[];
}

/** The part of it that does not depend on a turn. */
export type ConversationContext = Pick<Gathered, 'summary' | 'summaryTrust' | 'recent'>;

export interface StoredAnswer {
  readonly step: string;
  readonly inputHash: string;
  readonly text: string;
  readonly truncated: boolean;
  readonly model: string;
  readonly usage: TokenUse;
  readonly at: Millis;
  /** The undone consolidation that it was given to, and that has paid for it. */
  readonly former?: string;
}

export type Stored = { readonly kind: 'stored' } | Fenced;

/** Claimed work on a lane apart from its turns: a study, or a night. Its fence goes with every write. */
export interface Held {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner: Owner;
  readonly scope: Scope;
  readonly consolidationId: string;
  /** Of the lane's work of this kind, apart from that of its turns. */
  readonly epoch: number;
  /** Failed tries so far. */
  readonly attempts: number;
}

/** What all such work needs. */
export interface HeldStore<Work extends Held> {
  /** Whether no later claim has taken the work: then what it stores now is kept. */
  holds(work: Work): Promise<boolean>;
  /** Stores the answer among those of its consolidation, once. The call that brought it is settled in any case. */
  storeAnswer(work: Work, answer: StoredAnswer, call?: SettledCall | null): Promise<Stored>;
  /** One try more at `retryAt`, or none with null; the lane is given free. */
  fail(work: Work, how: { failure: Failure; retryAt: Millis | null }): Promise<{ readonly kind: 'noted' } | Fenced>;
  /** Given back unharmed: no try is counted. */
  release(work: Work, notBefore: Millis): Promise<void>;
}

/** A question, and under which names of steps its answer would be stored. */
export interface Asked {
  readonly inputHash: string;
  readonly steps: readonly string[];
  /** Of those its call is for; missing: of nobody. */
  readonly rooms?: readonly Room[];
}

export interface LastLook {
  /** No later claim has taken the lane: then what the turn stores now is kept. */
  readonly holds: boolean;
  /** What was answered to the question meanwhile, to a worker that had the turn before. */
  readonly answer: StoredAnswer | null;
  readonly isNoted: boolean;
}

export interface Consolidation {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly scope: Scope;
  readonly state: 'thinking' | 'planned' | 'waiting' | 'applied' | 'split' | 'parked' | 'undone';
  readonly batchIds: readonly string[];
  /** The canary whose changes it is made with; null: none. */
  readonly variant: string | null;
  /** The rung of the tenant's economy when it was pinned. Missing: none. */
  readonly rung?: number;
  readonly attempts: number;
  readonly failure: Failure | null;
  readonly createdAt: Millis;
  readonly appliedAt: Millis | null;
  /** When retention removed its plan and answers, if it did. */
  readonly removedAt?: Millis;
}

/** By the hashes of their texts. null: the model refuses the text for good. */
export type KnownVectors = ReadonlyMap<string, Float32Array | null>;

export interface ThoughtStore {
  gather(turn: Turn, recentCount: number): Promise<Gathered>;
  /** What a batch of this scope would be gathered with if it were claimed now. */
  context(lane: LaneId, scope: Scope, recentCount: number): Promise<ConversationContext>;
  /** Its own, else that of an undone consolidation of the same batches (`former`). */
  answer(consolidationId: string, step: string, inputHash: string): Promise<StoredAnswer | null>;
  /**
   * Looked at right before a model is asked. Where it will be asked the call is noted, if there is room for it (`UsageStore.note`). A turn
   * that was resumed is told of an answer that came while that was being done, too.
   */
  lastLook(turn: Turn, asked: Asked, call: SentCall): Promise<LastLook>;
  /**
   * Stores the answer and settles the call that brought it; a former one was paid for by its own consolidation. That of a turn whose lane
   * was claimed again is kept as well while the lane is at the same consolidation: whoever has the turn by now takes it. The call is
   * settled in any case.
   */
  storeAnswer(turn: Turn, answer: StoredAnswer, call?: SettledCall | null): Promise<Stored>;
  answers(consolidationId: string): Promise<readonly StoredAnswer[]>;
  /** A plan that is not carried out: `MemoryStore.apply` stores the one that is. */
  storePlan(turn: Turn, plan: Plan): Promise<Stored>;
  /** The newest round, or null. */
  plan(consolidationId: string): Promise<Plan | null>;
  get(tenant: TenantId, id: string): Promise<Consolidation | null>;
  list(
    tenant: TenantId,
    filter: { state?: Consolidation['state']; userId?: string },
    page: Page,
  ): Promise<Paged<Consolidation>>;
  /** Vectors of texts already embedded for this lane, by hashes in hexadecimal digits; missing ones are left out. */
  vectors(lane: LaneId, fingerprint: string, textHashes: readonly string[]): Promise<KnownVectors>;
  storeVectors(lane: LaneId, fingerprint: string, vectors: KnownVectors): Promise<void>;
  /**
   * The vectors of one fingerprint go, those of so many lanes after one. Answers with the last of these lanes; null: there were no
   * more.
   */
  dropVectors(
    fingerprint: string,
    lanes: { readonly after: LaneId | null; readonly limit: number },
  ): Promise<LaneId | null>;
  /** How many texts the model refuses for good, each counted once per lane. */
  refusedTexts(fingerprint: string): Promise<number>;
}

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
type BulkCall = Pick<ChatCall, 'name' | 'system' | 'user' | 'schema'>;

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

interface BulkStep {
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

import type {
  ApiKey,
  Assessment,
  Batch,
  BulkJob,
  BulkQuestion,
  Canary,
  CanaryLane,
  Ceilings,
  ClosedSlots,
  Consolidation,
  Content,
  Credited,
  Delivery,
  Departure,
  Economy,
  Erasure,
  FiguresOfModel,
  HeldShare,
  JsonObject,
  KeptHold,
  Lane,
  LaneId,
  Link,
  Memory,
  MemoryEvent,
  Message,
  Millis,
  NewTaskVersion,
  NightRecord,
  OutboxEntry,
  Pause,
  PeerUse,
  Plan,
  Priority,
  Receipt,
  Replay,
  Review,
  Scope,
  SentCall,
  SetAside,
  StoredAnswer,
  Suite,
  SuiteCase,
  TaskState,
  Telling,
  TenantId,
  TenantSettings,
  Tombstone,
  Tools,
  TrailEntry,
  Trust,
  Undo,
  Webhook,
  WishToForget,
} from '@slowwave/engine';
import { emptyGraph, type GraphRows } from './memory-ledger-graph-rows.ts';
import type { TopicRow } from './memory-ledger-topics.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface LaneRow extends Mutable<Omit<Lane, 'pending' | 'pausedAt' | 'cold'>> {
  /** The erasure that has cut it off from its owner. */
  erasure: string | null;
  /** The pinned consolidation, null unless the lane is consolidating. */
  consolidationId: string | null;
  /** Most batches of the next window, set by a split. */
  windowLimit: number | null;
  /** The canary for whose undo no turn is claimed. */
  held: string | null;
  /** Up to this position batches are consolidated in the windows that they had before they were undone. */
  keptWindows: number;
  leavingUntil: Millis;
  /** When the last batch was accepted, and how long the owner usually lets pass before saying something. */
  newestAt: Millis | null;
  pace: Millis | null;
  pauses: readonly Pause[];
  /** How the job of this generation was added. */
  nudged: Priority;
  /** The last position given out. */
  lastPosition: number;
  readonly createdAt: Millis;
  updatedAt: Millis;
}

export interface BatchRow extends Mutable<Batch> {
  keyId?: string;
  readonly tokens: number;
  readonly exchanges: number;
  /** Due at once as soon as it waits: flushed, replayed or split. */
  urgent: boolean;
  /** What apply said it becomes once it is searchable. */
  outcome: 'consolidated' | 'empty' | null;
  /** Consolidations of it that were undone before it was replayed, oldest first. */
  formers: readonly string[];
  /** What is to be projected (0: nothing yet), since when, and what was projected: −1, the index was lost. */
  speechRevision: number;
  speechRevisedAt: Millis | null;
  projectedRevision: number;
  /** How many of its messages the index has. */
  points: number;
}

export interface MessageRow {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly scope: Scope;
  message: Message;
  /** What was said, where the message does not show all of it. */
  unhidden?: Content | undefined;
}

export interface OutboxRow extends OutboxEntry {
  readonly consolidationId: string | null;
}

/** One model call that was paid for. */
export interface CallRow extends SentCall {
  readonly state: 'sent' | 'answered' | 'refused';
  readonly tookMs: Millis;
  /** Whether more than its day is known. */
  readonly kept: boolean;
}

export interface ReplayRow extends Mutable<Replay> {
  key: { readonly key: string; readonly bodyHash: string } | null;
  readonly batchIds: Set<string>;
  /** When somebody should look at it; null: never again. */
  dueAt: Millis | null;
  /** The last batch that was looked at. */
  after: { readonly at: Millis; readonly id: string };
}

export interface CanaryRow extends Mutable<Canary> {
  /** When somebody should look at it; null: never again. */
  dueAt: Millis | null;
}

export interface CanaryLaneRow extends Mutable<CanaryLane> {
  readonly canary: string;
  /** The position of the last batch that waits again. */
  through: number;
}

/** The rolling summary of a scope. Covers nothing until it is made, and again once it is forgotten. */
export interface SummaryRow {
  readonly id: string;
  readonly lane: LaneId;
  readonly scope: Scope;
  summary: string | null;
  from: number | null;
  count: number;
  trust: Trust | null;
  upTo: number;
  revision: number;
}

export interface WebhookRow extends Mutable<Webhook> {
  heldUntil: Millis;
}

export interface DeliveryRow extends Mutable<Omit<Delivery, 'tries'>> {
  readonly subject: string;
  readonly lane: LaneId | null;
  /** Attempts before the last replay. */
  before: number;
}

/** What its consolidation says of a night is not said again. */
export type NightRow = Mutable<Omit<NightRecord, 'scope' | 'owner' | 'undone' | 'failure'>>;

/** Who works on the night of a lane, and what its nights have judged. */
export interface SleepRow {
  epoch: number;
  held: string | null;
  heldUntil: Millis;
  notBefore: Millis;
  lookedAt: Millis;
  nextAt: Millis | null;
  seen: readonly string[];
}

export interface BulkJobRow extends BulkJob {
  readonly dueAt: Millis;
  readonly erasing: boolean;
}

export interface BulkQuestionRow extends BulkQuestion {
  readonly consolidationId: string;
  readonly askedAt: Millis;
  state: 'open' | 'taken_back' | 'answered' | 'failed';
  job: string | null;
}

/** Rows by their ids, with an index of those of each lane: else whatever reads a lane would read all of a long test. */
class LaneTable<Row extends { readonly lane: LaneId }> extends Map<string, Row> {
  readonly #lanes = new Map<LaneId, Map<string, Row>>();

  override set(id: string, row: Row): this {
    const ofLane = this.#lanes.get(row.lane) ?? new Map<string, Row>();
    this.#lanes.set(row.lane, ofLane.set(id, row));
    return super.set(id, row);
  }

  override delete(id: string): boolean {
    const lane = this.get(id)?.lane;
    if (lane !== undefined) this.#lanes.get(lane)?.delete(id);
    return super.delete(id);
  }

  /** In the order of insertion. */
  ofLane(lane: LaneId): Row[] {
    return [...(this.#lanes.get(lane)?.values() ?? [])];
  }
}

/** A version of what a run works on, and under which key it was written. */
export type TaskRow = TaskState & Pick<NewTaskVersion, 'key'>;

/** All tables. Maps keep the order of insertion, which is the order of recording. */
export interface State {
  readonly tools: Tools;
  readonly lanes: Map<LaneId, LaneRow>;
  readonly batches: LaneTable<BatchRow>;
  /** Every batch ever acknowledged, by tenant; counted apart from the batches, so that a lost one shows. */
  readonly accepted: Map<TenantId, number>;
  readonly keys: Map<string, { readonly bodyHash: string; readonly batchId: string }>;
  readonly messages: LaneTable<MessageRow>;
  readonly bulkJobs: Map<string, BulkJobRow>;
  readonly bulkQuestions: Map<string, BulkQuestionRow>;
  readonly wishes: (WishToForget & { readonly lane: LaneId; readonly consolidationId: string })[];
  readonly consolidations: Map<string, Mutable<Consolidation>>;
  /** Of consolidations. */
  readonly figures: Map<string, FiguresOfModel>;
  readonly summaries: SummaryRow[];
  /** What stood when a consolidation's window was pinned. */
  readonly pinnedSummaries: Map<string, string | null>;
  readonly tellings: { readonly lane: LaneId; readonly telling: Telling }[];
  readonly answers: Map<string, StoredAnswer[]>;
  readonly calls: CallRow[];
  readonly plans: Map<string, Plan[]>;
  readonly vectors: Map<string, Float32Array | null>;
  readonly memories: Map<string, Memory>;
  readonly events: MemoryEvent[];
  readonly tombstones: { readonly lane: LaneId; readonly tombstone: Tombstone }[];
  readonly reviews: Map<string, Mutable<Review>>;
  readonly replays: Map<string, ReplayRow>;
  readonly suites: Map<string, Suite>;
  readonly suiteCases: Map<string, SuiteCase>;
  /** By run, item and who says so. */
  readonly assessments: Map<string, Assessment & { readonly run: string }>;
  readonly taskStates: TaskRow[];
  readonly undos: Undo[];
  readonly canaries: Map<string, CanaryRow>;
  readonly canaryLanes: Map<string, CanaryLaneRow>;
  readonly nights: Map<string, NightRow>;
  readonly sleeps: Map<LaneId, SleepRow>;
  readonly topics: TopicRow[];
  readonly settings: Map<TenantId, TenantSettings>;
  readonly ceilings: Map<TenantId, Ceilings>;
  readonly economies: Map<TenantId, Economy>;
  readonly shares: Map<TenantId, HeldShare>;
  holds: Mutable<KeptHold>[];
  /** The first day of which is known what owners, apps and keys have used. */
  usesSince: number;
  readonly medians: (PeerUse & { readonly tenant: TenantId; readonly day: number; readonly peers: number })[];
  readonly models: Map<string, JsonObject>;
  readonly apiKeys: Map<string, ApiKey>;
  readonly links: Map<string, Link>;
  readonly webhooks: Map<string, WebhookRow>;
  readonly deliveries: Map<string, DeliveryRow>;
  readonly graph: GraphRows;
  readonly trail: Map<string, TrailEntry>;
  readonly receipts: Map<string, Receipt>;
  /** By memory and version. */
  readonly credits: Map<string, Credited>;
  readonly outbox: Map<number, OutboxRow>;
  readonly aside: Map<LaneId, SetAside>;
  /** The latest that a worker's clock has shown. */
  clockSeen: Millis;
  readonly counters: { outboxSeq: number; refilledTo: number };
  readonly erasures: Map<string, Erasure>;
  readonly away: Map<string, Departure & { readonly bits: number }>;
  closedSlots: ClosedSlots;
  givenUpAt: Millis | null;
  /** Memories that were erased once they were forgotten, at which revision. */
  readonly erasedAt: Map<string, number>;
  /** How often that was, since it was last overwritten; 0: it is. */
  uncompacted: number;
  /** Batches whose messages retention has removed. */
  readonly stripped: Set<string>;
  /** Batches that were erased, by tenant. */
  readonly erased: Map<TenantId, number>;
}

export function emptyState(tools: Tools): State {
  return {
    tools,
    lanes: new Map(),
    batches: new LaneTable(),
    accepted: new Map(),
    keys: new Map(),
    messages: new LaneTable(),
    bulkJobs: new Map(),
    bulkQuestions: new Map(),
    wishes: [],
    consolidations: new Map(),
    figures: new Map(),
    summaries: [],
    pinnedSummaries: new Map(),
    tellings: [],
    answers: new Map(),
    calls: [],
    plans: new Map(),
    vectors: new Map(),
    memories: new Map(),
    events: [],
    tombstones: [],
    reviews: new Map(),
    replays: new Map(),
    suites: new Map(),
    suiteCases: new Map(),
    assessments: new Map(),
    taskStates: [],
    undos: [],
    canaries: new Map(),
    canaryLanes: new Map(),
    nights: new Map(),
    sleeps: new Map(),
    topics: [],
    settings: new Map(),
    ceilings: new Map(),
    economies: new Map(),
    shares: new Map(),
    holds: [],
    usesSince: 0,
    medians: [],
    models: new Map(),
    apiKeys: new Map(),
    links: new Map(),
    webhooks: new Map(),
    deliveries: new Map(),
    graph: emptyGraph(),
    trail: new Map(),
    receipts: new Map(),
    credits: new Map(),
    outbox: new Map(),
    aside: new Map(),
    clockSeen: 0,
    counters: { outboxSeq: 0, refilledTo: 0 },
    erasures: new Map(),
    away: new Map(),
    closedSlots: { epoch: 0, closed: [] },
    givenUpAt: null,
    erasedAt: new Map(),
    uncompacted: 0,
    stripped: new Set(),
    erased: new Map(),
  };
}

export function scopeKey(scope: Scope): string {
  const key = SCOPE_KEYS.get(scope) ?? JSON.stringify([scope.userId, scope.agentId, scope.runId, scope.appId]);
  SCOPE_KEYS.set(scope, key);
  return key;
}

/** Rows are compared by it again and again. */
const SCOPE_KEYS = new WeakMap<Scope, string>();

/** The row, which must exist: another row of the state names it. */
export function rowOf<K, V>(table: ReadonlyMap<K, V>, key: K): V {
  const row = table.get(key);
  if (row === undefined) throw new Error(`the ledger names ${String(key)}, but has no such row`);
  return row;
}

/** A memory is to be projected as it is. */
export function putAgain(state: State, { id, tenant, lane }: Memory): void {
  state.counters.outboxSeq += 1;
  const seq = state.counters.outboxSeq;
  state.outbox.set(seq, { seq, memoryId: id, tenant, lane, consolidationId: null });
}

/** Changes fields of a row in place. */
export function change<T extends object>(row: T, fields: Partial<T>): void {
  Object.assign(row, fields);
}

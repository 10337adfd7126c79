import type { FiguresOfModel, Tally } from '../../figures/figures.ts';
import type { BatchState, LaneId, Millis, Owner, TenantId } from '../../words.ts';
import type { Receipt } from './feedback.ts';
import type { Page, Paged } from './ledger.ts';
import type { Account } from './summaries.ts';

/** accepted = pending + consolidating + consolidated + empty + parked + undone + erased, always. */
export interface BatchCounts {
  readonly accepted: number;
  readonly pending: number;
  readonly consolidating: number;
  readonly consolidated: number;
  readonly empty: number;
  readonly parked: number;
  readonly undone: number;
  readonly erased: number;
}

export interface UsageTotals {
  readonly calls: number;
  readonly failedCalls: number;
  readonly promptTokens: number;
  /** Of those, the ones the provider had in its cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** What calls of models are counted for. */
const USAGE_STEPS = [
  'extract',
  'describe',
  'procedure',
  'decide',
  'repair',
  'graph',
  'summary',
  'sleep',
  'recall',
  'rewrite',
  'rerank',
  'embed',
  'probe',
  'other',
] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

/** Calls that are named by their prompt: those outside of consolidations, and those that were not answered. */
const STEP_OF_PROMPT: Readonly<Record<string, UsageStep>> = {
  extract_facts: 'extract',
  describe_image: 'describe',
  summarize_procedure: 'procedure',
  decide_operations: 'decide',
  repair_output: 'repair',
  extract_graph: 'graph',
  decide_graph: 'graph',
  refresh_summary: 'summary',
  judge_neighbours: 'sleep',
  find_patterns: 'sleep',
  choose_slots: 'sleep',
  recall_step: 'recall',
  rewrite_question: 'rewrite',
  rerank_memories: 'rerank',
  are_you_there: 'probe',
};

/** What a call was for, by the name of its step, which also says which part and which try it was: decide:2/1, extract:unusable:3. */
export function usageStepOf(step: string): UsageStep {
  const [name = ''] = step.split(/[:/]/u, 1);
  const known = Object.hasOwn(STEP_OF_PROMPT, name) ? STEP_OF_PROMPT[name] : USAGE_STEPS.find((one) => one === name);
  return known ?? 'other';
}

/** What one model was asked for one purpose. */
export interface UsageOfModel extends UsageTotals {
  readonly model: string;
  readonly step: UsageStep;
  /** By the prices at the time of each call; calls of models without a price add nothing. */
  readonly cost: number;
}

/** The same on one UTC day, numbered from 1970. */
export interface UsageOfStep extends UsageOfModel {
  readonly day: number;
}

/** How far back a glance looks, and how much it reads at most: it costs the same however much there is. */
export interface HowToGlance {
  readonly now: Millis;
  readonly since: Millis;
  /** Batches are counted by stretches of this length. */
  readonly everyMs: Millis;
  /** The first UTC day of the use of models. */
  readonly fromDay: number;
  /** Of what is counted from an index alone: the newest. */
  readonly entriesMax: number;
  /** Of what is read from rows: the newest. */
  readonly rowsMax: number;
}

/** What happened to the batches of a stretch: how many of those accepted in it are in this state now. */
export interface AcceptedBatches {
  readonly from: Millis;
  readonly state: BatchState;
  readonly batches: number;
}

/** Batches that are not done, whenever they were accepted; of each no more than `entriesMax` are counted. */
export type OpenBatches = Readonly<Record<'pending' | 'consolidating' | 'parked', number>>;

export interface Glance {
  readonly open: OpenBatches;
  readonly accepted: readonly AcceptedBatches[];
  /** From when on `accepted` has all there are: later than was asked for where there are more than `entriesMax`. */
  readonly acceptedSince: Millis;
  /** Of the newest `rowsMax` parked batches, by the code of why they are. */
  readonly parked: readonly Omit<ParkedBatches, 'tenant'>[];
  /** How long the newest consolidated batches took from being accepted to being searchable, shortest first. Backfill is left out. */
  readonly delays: readonly Millis[];
  /** When the tenant's oldest due work became due. */
  readonly oldestDue: Millis | null;
  /** Operations that wait for a person; counts no further than `entriesMax`. */
  readonly reviews: number;
  /** With what the tenant's shadow spaces have used. */
  readonly usage: readonly UsageOfStep[];
  /** What was answered, by route, as the newest `rowsMax` receipts of the installation say. */
  readonly answers: readonly { readonly route: Receipt['route']; readonly answers: number }[];
  /** From when on `answers` has all there are. */
  readonly answersSince: Millis;
}

/** A stretch of time, and how much of it is read at most: the newest. */
export interface HowToMeasure {
  readonly from: Millis;
  /** Before this. */
  readonly to: Millis;
  readonly rowsMax: number;
}

/** An applied consolidation of which figures were kept. */
export interface MeasuredRow extends FiguresOfModel {
  readonly lane: LaneId;
  /** It was taken back since. */
  readonly undone: boolean;
}

/** What people, and what came of answers, said of a tenant's memory in a stretch: how many of all were against it. */
export interface Opinions {
  /** Reviews that were opened in it and are settled: the rejected ones. */
  readonly reviews: Tally;
  /** Ratings: the negative ones. */
  readonly ratings: Tally;
  /** Outcomes of answers of the stretch: the bad ones. */
  readonly outcomes: Tally;
}

export interface MeasuredStretch {
  readonly consolidations: readonly MeasuredRow[];
  readonly opinions: Opinions;
}

export interface OwnerSummary {
  readonly owner: Owner;
  readonly memories: number;
  readonly pending: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
}

/** Which owners are listed, and how. */
export interface OwnersAsked {
  /** What their ids begin with; '': any. */
  readonly idPrefix: string;
  /** By when they were first heard of, or by when anything of theirs last changed. */
  readonly order: 'created' | 'updated';
}

/** The last copy of the ledger that was made as a whole. */
export interface Backup {
  /** The moment whose state it is. */
  readonly at: Millis;
  readonly bytes: number;
}

export interface OverviewStore {
  batches(tenant: TenantId): Promise<BatchCounts>;
  /** Batches that wait or are being consolidated, of one tenant or of all but shadow spaces; counts no further than `atMost`. */
  backlog(tenant: TenantId | null, atMost: number): Promise<number>;
  memories(tenant: TenantId): Promise<{ live: number; versions: number }>;
  /** With what its shadow spaces have used. */
  usage(tenant: TenantId): Promise<UsageTotals>;
  usageOf(consolidationId: string): Promise<UsageTotals>;
  /** What each model was asked on the UTC day of `at`: for a whole tenant with its shadow spaces, or for one account. Ordered by model and step. */
  usageOfDay(of: { readonly tenant: TenantId } | Account, at: Millis): Promise<readonly UsageOfModel[]>;
  /** What the overview of a tenant shows of now and lately. Cheap enough to be asked every few seconds. */
  glance(tenant: TenantId, how: HowToGlance): Promise<Glance>;
  /** Consolidations by when they were begun. Reads at most `rowsMax` rows of each kind. */
  measured(tenant: TenantId, how: HowToMeasure): Promise<MeasuredStretch>;
  /** Without `asked` all of them, as they were first heard of. */
  owners(tenant: TenantId, page: Page, asked?: OwnersAsked): Promise<Paged<OwnerSummary>>;
  ownerCount(tenant: TenantId): Promise<number>;
  /** null: none is known. */
  lastBackup(): Promise<Backup | null>;
  /** How many memories and batches, and how much of graphs, is still to be projected. */
  outbox(): Promise<number>;
  /** When the oldest due work became due; null when none is. Across tenants, without shadow spaces: a health figure. */
  oldestDue(now: Millis): Promise<Millis | null>;
}

/** A row that refers to something which is not there, by what it is and what it lacks. */
export const ORPHAN_KINDS = [
  'batch without lane',
  'message without batch',
  'memory without lane',
  'memory without event',
  'memory without version',
  'version without memory',
  'event without memory',
  'tombstone without memory',
  'plan without consolidation',
  'outbox entry without memory',
] as const;
export type OrphanKind = (typeof ORPHAN_KINDS)[number];

/** A figure or a place of a batch or lane that contradicts the others. */
export const CONTRADICTIONS = [
  /** The lane counts other waiting batches than there are. */
  'lane that miscounts',
  /** A count that is kept beside the rows is not how many there are. */
  'count that is wrong',
  /** idle with waiting batches, waiting without any, or consolidating without a window. */
  'lane in a wrong state',
  /** Being consolidated, but in no lane's window. */
  'batch in no window',
  /** Everything it led to is in the index, but it never came to its end. */
  'batch that never ends',
  /** Of a consolidation that is undone, or not counting though its consolidation counts. */
  'statement that counts wrongly',
  /** A relation, or a name or a merge of an entity, is not what the statements that count come to. */
  'relation that does not follow',
] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** What is wrong, how often, and where to look. */
export interface Suspects {
  readonly count: number;
  /** Ids of the first ones. */
  readonly examples: readonly string[];
}

export interface ParkedBatches {
  readonly tenant: TenantId;
  readonly code: string;
  readonly batches: number;
}

/** What a ledger can say of its own soundness. Reads only, across tenants; may take long on a large ledger. */
export interface AuditStore {
  /** Everybody who has or had anything in it. */
  tenants(): Promise<readonly TenantId[]>;
  memories(): Promise<number>;
  /** Any memories, at most so many: other ones each time. */
  sample(limit: number): Promise<readonly { readonly tenant: TenantId; readonly id: string }[]>;
  orphans(kind: OrphanKind): Promise<Suspects>;
  contradictions(kind: Contradiction): Promise<Suspects>;
  /** Lanes that should have been worked on since before this moment. */
  overdue(before: Millis): Promise<Suspects>;
  /** Not those in shadow spaces: a what-if counts them. */
  parked(): Promise<readonly ParkedBatches[]>;
}

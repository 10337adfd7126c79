export { AuditEntryView, AuditList, AuditOutcome, ListAuditQuery } from './audit.ts';
export {
  BatchAccepted,
  BatchList,
  BatchStage,
  BatchState,
  BatchView,
  FlushView,
  ListBatchesQuery,
  ParkedList,
  type ParkedView,
  PostBatch,
  PostFlush,
  PostPreview,
} from './batches.ts';
export {
  BundledErasureList,
  BundledOwnerList,
  BundleLines,
  BundleView,
  GetBundleQuery,
  GetLinesQuery,
  ImportView,
  ListBundledQuery,
  PostErasures,
  PostImport,
  PostLines,
  PutBundledSettings,
  TakenErasures,
  TakenSettings,
} from './bundle.ts';
export {
  CanaryList,
  CanaryRehearsal,
  type CanarySummary,
  CanaryView,
  ListCanariesQuery,
  PostCanary,
  PostCanaryPromotion,
  PostCanaryUndo,
} from './canaries.ts';
export {
  ArrivalsEnded,
  ArrivalsQuery,
  CallerView,
  CellErasureView,
  CellName,
  CellOwnerList,
  CellOwnerQuery,
  CellsView,
  CellView,
  DepartureView,
  GetTenantCopyQuery,
  LeavingView,
  ListCellOwnersQuery,
  ListSharesQuery,
  LossView,
  PostCellErasure,
  PostDeparture,
  PostLeaving,
  PostLoss,
  PutShare,
  PutSlots,
  PutTenantCopy,
  ShareList,
  ShareView,
  SLOTS_ALL,
  SlotsView,
  TenantCopied,
  TenantCopyView,
} from './cells.ts';
export {
  ColdOwner,
  ColdOwnerList,
  CooledView,
  ListColdQuery,
  PostCold,
  PostWaking,
  SweptView,
  WokenView,
} from './cold.ts';
export {
  counted,
  ExternalId,
  listOf,
  Metadata,
  Moment,
  PageQuery,
  ScopeView,
  WAIT_MAX_MS,
  WaitQuery,
} from './common.ts';
export {
  ConsolidationList,
  ConsolidationState,
  ConsolidationView,
  GetConsolidationQuery,
  ListConsolidationsQuery,
  PlanView,
  PromptList,
} from './consolidations.ts';
export { ContextResult, PostContext } from './context.ts';
export { ExaminationView, GetDoctorQuery } from './doctor.ts';
export { DriftQuery, DriftView } from './drift.ts';
export { ErasureAccepted, ErasureList, ErasureState, ErasureView, ExportLine, OwnerParams } from './erasures.ts';
export { ERROR_STATUS, type ErrorCode, Problem } from './errors.ts';
export { Filters } from './filters.ts';
export {
  DRAWN_RELATIONS_MAX,
  EntityKind,
  EntityList,
  EntityNeighbourhood,
  EntityView,
  GetEntityQuery,
  GetGraphQuery,
  GraphView,
  ListEntitiesQuery,
  ListProposalsQuery,
  ListRelationsQuery,
  ProposalList,
  RelationList,
  RelationView,
  StatementList,
  StatementView,
} from './graph.ts';
export { GraphMatches, KnownEntity, PostGraphQuery } from './graph-query.ts';
export { StudyView } from './graph-study.ts';
export {
  ChangedRelation,
  type EntityGiven,
  PatchEntity,
  PatchRelation,
  PostMerge,
  PostRelation,
  PostSplit,
} from './graph-writes.ts';
export { HoldList, HoldView, ListHoldsQuery } from './holds.ts';
export {
  ListIdsQuery,
  ListMemoriesOfIdsQuery,
  UsedIdList,
  type UsedIdView,
  WITHDRAWN_MAX,
  WithdrawnView,
  WithdrawQuery,
} from './ids.ts';
export { IndexMoveAnswer, IndexMoveView, PatchIndexMove, PostIndexMove } from './index-move.ts';
export {
  EndedLinks,
  KeyList,
  KeyQuery,
  KeyScope,
  KeyView,
  KeyWithSecret,
  LinkView,
  ListKeysQuery,
  OpenedLink,
  PauseView,
  PostKey,
  PostLink,
  RenewedToken,
  RotateKey,
  SessionView,
  TenantName,
  TenantParams,
} from './keys.ts';
export {
  ConclusionView,
  DELETED_LISTED,
  DELETED_TEXT_MAX,
  DeletedMemoriesView,
  DeletedView,
  DeleteMemoriesQuery,
  DeleteMemoryQuery,
  ForgottenView,
  History,
  HistoryEvent,
  ListMemoriesQuery,
  ListUsersQuery,
  MemoryList,
  MemoryView,
  MessageList,
  MessagesQuery,
  NEAR_CHARACTERS_MAX,
  NEAR_MAX,
  PatchMemory,
  PostFeedback,
  PostMemory,
  type SaidMessage,
  SourceList,
  SourcesQuery,
  SourceView,
  UserList,
  UserView,
  WrittenMemory,
} from './memories.ts';
export { CONTENT_MAX, hasImage, MESSAGES_MAX, type MessageBody, PARTS_MAX, Role, textOf } from './messages.ts';
export { ModelList, type ModelView } from './models.ts';
export {
  type ActView,
  ListNightsQuery,
  NightList,
  type NightSummary,
  NightView,
  PostNight,
} from './nights.ts';
export { OverviewQuery, OverviewView } from './overview.ts';
export { ProfileLineParams, ProfileSlotParams, ProfileView, PutProfileLine } from './profile.ts';
export { jobTimeoutMs, type Payload, QUEUES, type QueueName } from './queues.ts';
export { Citation, PostRecall, RecallResult } from './recall.ts';
export { MemoryReceipts, PostOutcome, ReceiptView } from './receipts.ts';
export { GetReplayQuery, ListReplaysQuery, PostReplay, ReplayList, ReplayRehearsal, ReplayView } from './replays.ts';
export { PostRetentionPreview, RetentionPreview } from './retention.ts';
export { ListReviewsQuery, PostReview, ReviewList, ReviewState, ReviewView } from './reviews.ts';
export { MessageHit, PostSearch, RelationHit, SearchHit, SearchMode, SearchResult } from './search.ts';
export {
  CeilingsView,
  PutCeilings,
  PutSettings,
  PutSettingsQuery,
  ReviewedEvent,
  SettingsView,
  TriedSettings,
} from './settings.ts';
export { LiveView, ReadyView, StatsView } from './stats.ts';
export {
  GetSuiteRunQuery,
  PostSuite,
  PostSuiteAssessments,
  PostSuiteRun,
  PutSuiteMargins,
  SuiteAssessments,
  SuiteExport,
  type SuiteFile,
  SuiteList,
  SuitePageQuery,
  SuiteParams,
  SuiteRunEstimate,
  SuiteRunList,
  SuiteRunParams,
  SuiteRunView,
  SuiteSample,
  SuiteSampleQuery,
  SuiteView,
} from './suites.ts';
export {
  EndTask,
  PatchTaskState,
  PutTaskState,
  TaskDocument,
  TaskHistoryQuery,
  TaskListQuery,
  TaskQuery,
  TaskStateList,
  TaskStateView,
} from './tasks.ts';
export {
  DependentView,
  ListUndosQuery,
  PostRedo,
  PostRestore,
  PostRollback,
  PostUndo,
  UndoList,
  UndoReport,
  UndoView,
} from './undos.ts';
export {
  ForecastView,
  PostForecast,
  UsageCause,
  UsageGroup,
  UsageQuery,
  UsageReport,
  UsageRowView,
} from './usage.ts';
export {
  DeliveryList,
  DeliveryView,
  ListDeliveriesQuery,
  PatchWebhook,
  PostWebhook,
  Replayed,
  WebhookList,
  WebhookView,
  WebhookWithSecret,
} from './webhooks.ts';

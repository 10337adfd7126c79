export { bulkSweep } from './bulk.ts';
export {
  CANARY_STEPS,
  type ConfiguredChange,
  NO_BUDGET,
  promoteCanary,
  startCanary,
  stopCanary,
  undoCanary,
} from './canaries/start.ts';
export { type CanaryDeps, canarySweep, type Watched, type WatchedFigure, watchedFrom } from './canaries/sweep.ts';
export { estimateUndo } from './canaries/take-back.ts';
export {
  ASKED,
  BYTES,
  BYTES_ASLEEP,
  BYTES_IN_QDRANT,
  type CapacityPlan,
  capacityPlan,
  MEASURES,
  type Part,
} from './capacity.ts';
export {
  type ColdDeps,
  coolOwner,
  deleteSegment,
  segmentContent,
  sweepCold,
  wakeOwner,
} from './cold.ts';
export { admit } from './consolidation/extract/admit.ts';
export { copyingName, EXTRACT_PLAIN, isCopying, knownCopying } from './consolidation/extract/infer.ts';
export { FORGET_CATEGORY } from './consolidation/extract/rules.ts';
export { guard, type Verdicts } from './consolidation/judge.ts';
export { repeatsOf } from './consolidation/recall.ts';
export { preview, type Question, questionsOf, type ThoughtOf } from './consolidation/rehearse.ts';
export { assembleContext, queryOf } from './context/assemble.ts';
export {
  type AssembledContext,
  type ContextAsk,
  type ContextParts,
  type KnownFact,
  type KnownRelation,
  SECTIONS,
  type SectionName,
  type ToldFact,
  type ToldLine,
} from './context/items.ts';
export type * from './deps.ts';
export { oldestUnprojected, unknownSegments } from './doctor/checks.ts';
export { type Examination, examine, type HowToExamine } from './doctor/examine.ts';
export { CHECKS, type Finding } from './doctor/findings.ts';
export { eraseOwner, type SegmentErasing, sweepErasures } from './erasure/erase.ts';
export { type ErasedOwner, forgetSubject, requestErasure, withoutErased, withoutOwner } from './erasure/request.ts';
export { asEngineError, EngineError, type EngineErrorCode, FencedError, remedyOf, wasAsked } from './errors.ts';
export { type Drift, type DriftedFigure, driftOf } from './figures/compare.ts';
export {
  FIGURE_NAMES,
  FIGURES,
  type Figures,
  type FiguresOfModel,
  type Tally,
} from './figures/figures.ts';
export { type About, type Forecast, forecastOf, forecastOfReplay } from './forecast.ts';
export type * from './graph/fold.ts';
export { foldRelations, inOrder, standingOf } from './graph/fold.ts';
export type { KnownEntity } from './graph/names.ts';
export { projectGraph, projectGraphNow } from './graph/project.ts';
export type * from './graph/query-graph.ts';
export { endsOfRelations, neighbourhoodOf, queryGraph } from './graph/query-graph.ts';
export {
  boostRelated,
  type FoundRelation,
  type GraphQuestion,
  readGraph,
  relationBoosts,
} from './graph/read/read-graph.ts';
export { type StudyOutcome, studyLane, sweepStudies } from './graph/study/study-lane.ts';
export type * from './graph/words.ts';
export { graphWriter } from './graph/writer.ts';
export {
  bitsOfKey,
  eventIdOf,
  ofNoSpace,
  ownerBitsIn,
  ownerBitsOf,
  ownerBitsOfLane,
  ownerDigits,
  ownerHashOf,
  ownerKeyOf,
  payerOf,
  spaceIn,
  spaceOf,
} from './ids.ts';
export {
  inquire,
  type LeaningQuestion,
  type Library,
  modelReranker,
  rewriteQuestion,
} from './inquiry/inquire.ts';
export type { Readable, Reader } from './inquiry/think.ts';
export { climb, type Economy, rungName, rungOn, type Spending } from './limits/economy.ts';
export { sweepUsual } from './limits/holds.ts';
export { maskPersonal, valuesMasked, withPolicy } from './masking/personal.ts';
export { maskSecrets } from './masking/secrets.ts';
export { hasConclusions, standsOn } from './memories/conclusions.ts';
export {
  deletedAt,
  evolve,
  forgottenAt,
  goneSince,
  type Home,
  holdsAt,
  idListsOf,
  isMerged,
  KEY_OF,
  listsOfOne,
  liveVersion,
  newest,
  newestOrNull,
  saidIds,
  tombstoneOf,
} from './memories/evolve.ts';
export { type Evidence, quotedIn } from './memories/forgotten.ts';
export {
  foundVersions,
  historyFrom,
  livesOf,
  shownVersion,
  UNDONE_NOTE,
  undoneBy,
  undosInEffect,
  versionAsOf,
  withoutFormer,
} from './memories/former.ts';
export { eventsInApp, inApp } from './memories/in-app.ts';
export { rater, reviewer } from './memories/review.ts';
export { memoryWriter } from './memories/write.ts';
export {
  draftBatch,
  fromTheFuture,
  isWorthReading,
  namedIdsIn,
  type Posted,
  type ScopeIds,
  scopeOf,
  spokenOf,
  writtenIn,
} from './messages/messages.ts';
export { ARE_YOU_THERE, type Wondering, wonder } from './models/away.ts';
export {
  type Calibration,
  calibrate,
  keepCalibration,
  knownCalibration,
  type LanguageCosines,
} from './models/calibration.ts';
export { callTokens, promptTokens } from './models/call-model.ts';
export { embedAll } from './models/embed.ts';
export {
  admitCall,
  type Breaker,
  type BreakerPolicy,
  CLOSED_BREAKER,
  callFailed,
  callUndecided,
  chatTokens,
  costOfUse,
  moneySpent,
  recent,
  SECONDS_COUNTED,
  type SecondUse,
  secondOf,
  sweepEconomies,
  waitFor,
} from './models/limits.ts';
export { readAnswer } from './models/parse/answer.ts';
export { factsIn, type RawOperation } from './models/parse/listed.ts';
export { DECIDE, EXTRACT, type ExtractInput } from './models/prompts/consolidation.ts';
export { DECIDE_GRAPH, EXTRACT_GRAPH } from './models/prompts/graph.ts';
export { type CustomCall, type Prompt, promptMistake, userMessage } from './models/prompts/prompt.ts';
export { CHAT_STEPS, type ChatStep, type OtherUse, type StepChats, type StepModels } from './models/steps.ts';
export { HASH_VECTOR_VERSION, HASHED, hashVector, LEARNT, roundedVector, type Vectors } from './models/vectors.ts';
export {
  abandonMove,
  confirmMove,
  currentMove,
  estimateMove,
  type IndexMove,
  type IndexMoves,
  isSwitched,
  MoveRefusedError,
  moveBack,
  noteBehind,
  passes,
  type SearchedSpace,
  type Side,
  startMove,
  switchMove,
  writesBoth,
} from './moves/move.ts';
export { workOnMove } from './moves/work-on-move.ts';
export { type Space, writeBeside, writeIn } from './moves/write-in.ts';
export type * from './plan.ts';
export type * from './ports/ledger/bundles.ts';
export { BUNDLE_FORMAT } from './ports/ledger/bundles.ts';
export type * from './ports/ledger/canaries.ts';
export { addSpent, NOTHING_SPENT, OPEN_CANARY_STATES } from './ports/ledger/canaries.ts';
export type * from './ports/ledger/erasures.ts';
export { NOT_KEPT, REMOVED, readsOtherwise } from './ports/ledger/erasures.ts';
export type * from './ports/ledger/feedback.ts';
export type * from './ports/ledger/graph.ts';
export type * from './ports/ledger/lanes.ts';
export { FAILURES_KEPT, replayPriority } from './ports/ledger/lanes.ts';
export type * from './ports/ledger/ledger.ts';
export { InvalidCursorError, slicesOf } from './ports/ledger/ledger.ts';
export type * from './ports/ledger/memories.ts';
export type * from './ports/ledger/nights.ts';
export { TOPIC_OWNERS } from './ports/ledger/nights.ts';
export type * from './ports/ledger/outbox.ts';
export type * from './ports/ledger/overview.ts';
export { CONTRADICTIONS, ORPHAN_KINDS, usageStepOf } from './ports/ledger/overview.ts';
export type * from './ports/ledger/owners-away.ts';
export type * from './ports/ledger/replays.ts';
export type * from './ports/ledger/summaries.ts';
export type * from './ports/ledger/task-states.ts';
export { TASK_VERSIONS_KEPT } from './ports/ledger/task-states.ts';
export type * from './ports/ledger/tenants.ts';
export { FIRST_FAILED_STATUS, idOfPost, isPost, outcomeOf, REFUSED_STATUSES } from './ports/ledger/tenants.ts';
export type * from './ports/ledger/thoughts.ts';
export type * from './ports/ledger/usage.ts';
export { CALLS_KEPT_MS, CAUSES, needsCalls } from './ports/ledger/usage.ts';
export type * from './ports/ledger/webhooks.ts';
export type * from './ports/models.ts';
export { NOTHING_USED } from './ports/models.ts';
export type * from './ports/schedule.ts';
export type * from './ports/search-index.ts';
export { SHELVES, shownPart } from './ports/search-index.ts';
export type * from './ports/segments.ts';
export type * from './ports/tools.ts';
export { atOnce, NEVER, silentMeter } from './ports/tools.ts';
export type * from './ports/writers.ts';
export {
  type FilledSlot,
  type LineResult,
  linesKept,
  PROFILE_READ,
  putLine,
  readProfile,
  takeLine,
} from './profile/lines.ts';
export { type ProfileSlot, slotsOf } from './profile/placement.ts';
export {
  adoptIndex,
  markerOf,
  project,
  projectWithin,
  sameMarker,
  sweepOutbox,
} from './projection/project.ts';
export { type Rebuilding, type Rebuilt, rebuildIndex } from './projection/rebuild-index.ts';
export { blankedBy, creditChanges, creditScore, kept, LOOKED_FOR_MAX, laneOfReceipts } from './receipts.ts';
export type { WhatIfChanges } from './replays/in-space.ts';
export { messagesOf } from './replays/lives.ts';
export type {
  RelationDifference,
  SideResult,
  Time,
  WhatIfResult,
} from './replays/result.ts';
export { type ReplayDeps, startReplay } from './replays/start.ts';
export { discardSpace, sweepReplays } from './replays/what-if.ts';
export { previewRetention, type RetentionPreview, sweepRetention } from './retention/retain.ts';
export { hitsInApp, idsAsked, queriesInApp, withBeyond } from './search/beyond.ts';
export type * from './search/filter/filter.ts';
export { FilterError, filterableOf, fold, matches, sameFolded, scopeFromFilter } from './search/filter/filter.ts';
export { filterIn, narrowingFilterIn, readFilter } from './search/filter/read.ts';
export {
  bm25,
  compareIds,
  cosine,
  cosineOf,
  dot,
  fuse,
  keywordTable,
  lengthOf,
  type SearchMode,
  type Sighted,
  saysAt,
  scan,
  scanner,
  visible,
} from './search/hits.ts';
export { nameOfHit, type RankQuestion, rank, reasonsOf } from './search/rank.ts';
export { cutText } from './search/read-text.ts';
export { type CutMade, cutAt, type Judgement, judge, type ScoredHit, scored } from './search/relevance.ts';
export { withoutAsker } from './search/traits.ts';
export {
  type Ceilings,
  DECIDING,
  DEFAULT_SETTINGS,
  duePolicy,
  type ForgettingPolicy,
  type ModelPrice,
  type PersonalPolicy,
  type Retention,
  type SleepSettings,
  type TenantSettings,
  type TriedSettings,
} from './settings.ts';
export { nightSettler } from './sleep/settle.ts';
export { type NightOutcome, sleepLane, sweepNights } from './sleep/sleep-lane.ts';
export { assessmentsOf, type SampledMessage, sampleOf } from './suites/assessed.ts';
export { type CaseContent, contentOf } from './suites/cases.ts';
export { whyGated } from './suites/gate.ts';
export { type FileCase, importSuite, recordSuite } from './suites/record.ts';
export { type SuiteReport, saysOf } from './suites/report.ts';
export { casesOf, type Estimate, estimateRun, startRun, usualBudget } from './suites/run.ts';
export { maskedTask, patchedTask, type TaskDocument, taskLines, waitingForApproval } from './task.ts';
export {
  DAY_MS,
  dateTextOf,
  dayOf,
  isoOf,
  localIsoOf,
  millisOf,
  shownIsoOf,
  writtenOffset,
  zoneClock,
} from './text/dates.ts';
export { REPEATED_SHOWS_IN, repeatedAtEnd } from './text/loops.ts';
export { canonical, cleanText, estimateTokens, normaliseText } from './text/normalise.ts';
export { weightOf } from './text/support.ts';
export { containment, overlap, TERMS_VERSION, termSet, terms } from './text/terms.ts';
export { topicsOf } from './text/topics.ts';
export { laneSweep, type QueueRebuilt, rebuildQueue } from './turns/sweep.ts';
export { refreshSummary, type TurnDeps, takeTurn, turnDueAt } from './turns/take-turn.ts';
export { undoer, withdrawer } from './undo/undo.ts';
export { exportOf, withShownQuotes } from './views/export.ts';
export {
  conclusionView,
  coveredView,
  entityView,
  failuresView,
  failureView,
  isoOrNull,
  memoryView,
  ownerView,
  relationCore,
  relationView,
  saidView,
  scopeView,
  statementView,
  withoutPlaces,
} from './views/views.ts';
export {
  attackNotice,
  batchNotice,
  canaryNotice,
  claimDeliveries,
  deliver,
  deliveryIdOf,
  isRetracting,
  isWanted,
  memoryNotices,
  relationNotice,
  retractionNotice,
  toldAct,
  type WebhookSender,
} from './webhooks.ts';
export type * from './words.ts';
export {
  besideOwner,
  compareSaid,
  DEFAULT_TENANT,
  isUnder,
  isWithheld,
  ownerOf,
  saidBefore,
  underOf,
} from './words.ts';

export { aliasWorld } from './alias-world.ts';
export { anyCharacter, anyMood, anyOperations, anyText } from './any-answers.ts';
export { ARRANGED, MISARRANGED } from './arranged-talk.ts';
export {
  added,
  bitsOf,
  confirmed,
  deleted,
  details,
  type Happening,
  home,
  newBatch,
  newMessage,
  newNudge,
  newPlan,
  rated,
  retracted,
  scope,
  settings,
  storedAnswer,
  updated,
  user,
} from './builders.ts';
export { type CanaryBench, type CanaryTalk, canaryBench } from './canary-bench.ts';
export { asRead, dataOf } from './data-of-call.ts';
export { describeDirectory } from './directory-suite.ts';
export { doomed, type Fate } from './dying-deps.ts';
export { type BenchOptions, type EngineBench, engineBench, NEVER, ONE_CHAT, type PostOptions } from './engine-bench.ts';
export { describeErasedAndBack, ERASED_AND_BACK_SPACE, type ErasedAndBackStores } from './erased-and-back.ts';
export { estimatingTokenizer } from './estimating-tokenizer.ts';
export {
  CutOff,
  type FakeChat,
  type FakeEmbedder,
  fakeChat,
  fakeEmbedder,
  inputOf,
  type Reply,
  type Script,
} from './fake-models.ts';
export { type FaultShares, faultyChat } from './faulty-chat.ts';
export { DOCUMENTS as FILTER_DOCUMENTS, FILTER_CASES } from './filter-cases.ts';
export { type FixedTools, fixedTools, hashOf, type LogLine, MORNING, recordingLog } from './fixed-tools.ts';
export { describeFollowUps, type FollowUpsFixture } from './follow-ups-suite.ts';
export { graphPlan, HOLD_MS, namedIn } from './graph-bench.ts';
export { graphDecisions, graphScript } from './graph-scripts.ts';
export { newEntity, statementsBy } from './graph-statements.ts';
export { GOLD_AS_OF, GOLD_ENDED, GOLD_LIVE, GRAPH_TALK, type GraphTurn, KINDS_OF_TALK } from './graph-talk.ts';
export { anyStatements } from './graph-walk.ts';
export { type GroundedFact, groundedFacts } from './grounded-talk.ts';
export { type Case, expectCase, playGuard, type Scene, type Wish } from './guard-stage.ts';
export { describeIndexBuild, type IndexBuildFixture } from './index-build-suite.ts';
export { INJECTIONS } from './injections.ts';
export { INVENTED } from './invented-talk.ts';
export { expectConserved, type OpenedLedger, type OpenLedger, replay } from './ledger-bench.ts';
export { describeLedger } from './ledger-suite.ts';
export { expectTrue } from './ledger-truths.ts';
export { LIFE_CHANGES, LIFE_ELSEWHERE, MORE_CHANGES } from './life-changes.ts';
export { describeLimiter, type OpenLimiter } from './limiter-suite.ts';
export { createMemoryBuild } from './memory-build.ts';
export { memoryDirectory } from './memory-directory.ts';
export { createMemoryIndex, emptyIndex, type IndexState } from './memory-index.ts';
export { createMemoryLedger } from './memory-ledger.ts';
export { type Recorded, recordingMeter } from './meters.ts';
export { moodyModel } from './moody-model.ts';
export { deathAfter, mortal, watched } from './mortal.ts';
export { type NightBench, nightBench } from './night-bench.ts';
export { homesIn, mergesIn, pairLiesAbout, placeLiesAbout, thingIn } from './night-lies.ts';
export {
  CONCLUDING,
  interestsIn,
  liesAbout,
  type PatternBench,
  patternBench,
  SAYINGS,
  THINGS,
} from './pattern-bench.ts';
export { processorMs } from './processor-time.ts';
export { saidFacts } from './said-facts.ts';
export { type SaidRelation, sayGraph } from './said-graph.ts';
export { describeSchedule, type ScheduleFixture } from './schedule-suite.ts';
export { echoExtract, keyedDecide } from './scripts.ts';
export { describeSearchIndex, type SearchIndexFixture } from './search-index-suite.ts';
export { NOON, point as indexPoint, query as indexQuery, SUITE_SPACE } from './search-index-suite-points.ts';
export type { KeywordStatistics } from './search-index-suite-statistics.ts';
export {
  type Noise,
  REGRESSIONS,
  type Regression,
  type TalkBatch,
  talkInRounds,
  talkModel,
} from './seeded-regressions.ts';
export { type SleptWorld, sleptWorld } from './slept-world.ts';
export { stateHash } from './state-hash.ts';
export { studyBench } from './study-bench.ts';
export { type SuiteBench, suiteBench, suiteTalk, worseIn } from './suite-bench.ts';
export { type SummaryBench, summaryBench } from './summary-bench.ts';
export { type Talk, type TalkOptions, type Turn, talk } from './talk/talk.ts';
export { describeTenantCopies } from './tenant-copies-suite.ts';
export { reordered, type TimedBatch, timedBatches, timedDecide, timedExtract } from './timed-world.ts';
export { describeTokenizer } from './tokenizer-suite.ts';
export { done, type UndoBench, undoBench } from './undo-bench.ts';
export { walkUndos } from './undo-walk.ts';
export { updatedFacts } from './updated-talk/updates.ts';
export { batchesOf, perfectChat, play, searched, worldBench } from './world-bench.ts';
export { pick, seeded, shuffled, type World, type WorldOptions, world } from './worlds.ts';
export { UNUSABLE, WRAPPED } from './wrapped-answers.ts';

export {
  added,
  confirmed,
  deleted,
  details,
  type Happening,
  home,
  newBatch,
  newMessage,
  newNudge,
  newPlan,
  retracted,
  scope,
  settings,
  storedAnswer,
  updated,
  user,
} from './builders.ts';
export { type BenchOptions, type EngineBench, engineBench, NEVER } from './engine-bench.ts';
export { describeErasedAndBack, ERASED_AND_BACK_SPACE, type ErasedAndBackStores } from './erased-and-back.ts';
export { estimatingTokenizer } from './estimating-tokenizer.ts';
export {
  CutOff,
  type FakeChat,
  type FakeEmbedder,
  fakeChat,
  fakeEmbedder,
  type Reply,
  type Script,
} from './fake-models.ts';
export { FILTER_CASES } from './filter-cases.ts';
export { type FixedTools, fixedTools, type LogLine, MORNING, recordingLog } from './fixed-tools.ts';
export { describeFollowUps, type FollowUpsFixture } from './follow-ups-suite.ts';
export { newEntity, statementsBy } from './graph-statements.ts';
export { describeIndexBuild, type IndexBuildFixture } from './index-build-suite.ts';
export { expectConserved, type OpenedLedger, type OpenLedger } from './ledger-bench.ts';
export { describeLedger } from './ledger-suite.ts';
export { describeLimiter, type OpenLimiter } from './limiter-suite.ts';
export { createMemoryIndex } from './memory-index.ts';
export { createMemoryLedger } from './memory-ledger.ts';
export { type Recorded, recordingMeter, silentMeter } from './meters.ts';
export { type SaidRelation, sayGraph } from './said-graph.ts';
export { describeSchedule, type ScheduleFixture } from './schedule-suite.ts';
export { echoExtract, keyedDecide } from './scripts.ts';
export { describeSearchIndex, type SearchIndexFixture } from './search-index-suite.ts';
export { point as indexPoint, query as indexQuery, SUITE_SPACE } from './search-index-suite-points.ts';
export type { KeywordStatistics } from './search-index-suite-statistics.ts';
export { describeTokenizer } from './tokenizer-suite.ts';
export { undoBench } from './undo-bench.ts';
export { walkUndos } from './undo-walk.ts';
export { batchesOf, perfectChat, play } from './world-bench.ts';
export { pick, seeded, shuffled, type World, type WorldOptions, world } from './worlds.ts';

export { askerOf, OPERATOR_KEY, SILENT_LOG } from './asking.ts';
export { between } from './between.ts';
export { COMPILE_CACHE } from './compile-cache.ts';
export { allRemembered, saidOf } from './conversation.ts';
export { minilmFolder } from './minilm.ts';
export type { BatchCall, Batches } from './model-server/batches.ts';
export { answeredSums, billOf, type Kill } from './model-server/bill.ts';
export type { RecordedCall, RecordedEmbedding } from './model-server/endpoints.ts';
export { type Fault, type FaultPlan, spoiled, withFaults } from './model-server/faults.ts';
export {
  type Answers,
  answers,
  type DecideInput,
  type ExtractInput,
  echoExtractor,
  keyedDecider,
  oneByOne,
  type SentMessage,
  slowEmbedder,
  toolCall,
} from './model-server/ready-scripts.ts';
export {
  type EmbeddingCall,
  type EmbeddingScript,
  type EventReply,
  type HttpReply,
  type Raw,
  type Reply,
  type RerankCall,
  type RerankScript,
  refusal,
  type Script,
  type ScriptedCall,
} from './model-server/script.ts';
export { type ModelServer, type ModelServerOptions, startModelServer } from './model-server/server.ts';
export { delta, dripping } from './model-server/streaming.ts';
export { type Strict, type StrictLimits, strict } from './model-server/strict.ts';
export { onOneDay } from './one-day.ts';
export { type AnswerCheck, answerCheck } from './openapi/answers.ts';
export { type Description, type Operation, type Parameter, resolved, type Schema } from './openapi/schema.ts';
export { type OwnServer, startOwnServer } from './own-server.ts';
export { freePort } from './ports.ts';
export { startPostgres, type TestPostgres } from './postgres.ts';
export { type Exit, type Service, type ServiceOptions, spawnService } from './process.ts';
export { withChildren } from './process-tree.ts';
export { type Program, programFile } from './programs.ts';
export { startRedis, type TestRedis, type TestRedisOptions } from './redis.ts';
export { startRedisCluster, type TestRedisCluster } from './redis-cluster.ts';
export { S3_REGION, type S3Server, startS3Server } from './s3-server.ts';
export { SMOLLM, type SmallModel, startSmolLm } from './smollm.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { type TempDir, tempDir } from './temp.ts';
export { type CollectedSpan, startTraceCollector, type TraceCollector } from './trace-collector.ts';

export {
  type OpenedSchedule,
  openErasureQueue,
  openFollowUps,
  openSchedule,
} from './add.ts';
export { checkQueue, keepLocks, type QueueConnection, queueFor } from './connection.ts';
export { shardOf, shardQueues } from './jobs.ts';
export { memoryConnection } from './memory/backend.ts';
export { postgresConnection } from './postgres.ts';
export { redisConnection } from './redis.ts';
export {
  startErasureWorker,
  startSleepWorker,
  startStudyWorker,
  startSummaryWorker,
  startTurnWorker,
  type Workers,
} from './worker.ts';

export { checkQueue, type QueueConnection, queueFor } from './connection.ts';
export { type OpenedErasureQueue, openErasureQueue } from './erasure-queue.ts';
export { type OpenedFollowUps, openFollowUps } from './follow-ups.ts';
export { pgliteConnection } from './pglite-connection.ts';
export { postgresConnection } from './postgres-connection.ts';
export { redisConnection } from './redis-connection.ts';
export { type OpenedSchedule, openSchedule } from './schedule.ts';
export {
  type ErasureWorkerOptions,
  type StudyWorkerOptions,
  type SummaryWorkerOptions,
  startErasureWorker,
  startStudyWorker,
  startSummaryWorker,
  startTurnWorker,
  type TurnWorkerOptions,
} from './worker.ts';

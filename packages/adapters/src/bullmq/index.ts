export { type QueueConnection, queueFor } from './connection.ts';
export { pgliteConnection } from './pglite-connection.ts';
export { redisConnection } from './redis-connection.ts';
export { openSchedule } from './schedule.ts';
export { startTurnWorker, type TurnWorkerOptions } from './worker.ts';

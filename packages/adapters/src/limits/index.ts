export { besideRate } from './beside-rate.ts';
export { type BreakingEmbedder, breakingChat, breakingEmbedder } from './breaking.ts';
export {
  EMBEDDING_LIMIT_MS,
  hurriedEmbedder,
  limitedChat,
  limitedEmbedder,
  slots,
  slotsOfEach,
  slottedChat,
  slottedEmbedder,
} from './limited.ts';
export { memoryLimiter } from './memory-limiter.ts';
export { postgresLimiter } from './postgres-limiter.ts';
export { redisLimiter } from './redis-limiter.ts';

export {
  type BreakingChat,
  type BreakingEmbedder,
  breakingChat,
  breakingEmbedder,
  FALLBACK_POLICY,
} from './breaking.ts';
export { fallbackChat } from './fallback.ts';
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

export {
  type BreakingChat,
  type BreakingEmbedder,
  breakingChat,
  breakingEmbedder,
  FALLBACK_POLICY,
  fallbackChat,
} from './fallback.ts';
export {
  EMBEDDING_LIMIT_MS,
  hurriedEmbedder,
  limitedChat,
  limitedEmbedder,
  memoryLimiter,
  slots,
  slotsOfEach,
  slottedChat,
  slottedEmbedder,
} from './limited.ts';
export { postgresLimiter, redisLimiter } from './postgres-limiter.ts';

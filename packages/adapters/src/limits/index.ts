export {
  hurriedEmbedder,
  limitedChat,
  limitedEmbedder,
  memoryLimiter,
  slots,
  slotsOfEach,
  slottedChat,
  slottedEmbedder,
} from './limited.ts';
export {
  type BreakingChat,
  type BreakingEmbedder,
  breakingChat,
  breakingEmbedder,
  FALLBACK_POLICY,
  fallbackChat,
} from './outages.ts';
export { postgresLimiter, redisLimiter } from './shared-limiters.ts';

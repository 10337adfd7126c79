export { type BreakingChat, breakingChat } from './breaking-chat.ts';
export { EMBEDDING_LIMIT_MS, hurriedEmbedder } from './hurried-embedder.ts';
export { limitedChat, limitedEmbedder } from './limited.ts';
export { memoryLimiter } from './memory-limiter.ts';
export { postgresLimiter } from './postgres-limiter.ts';
export { redisLimiter } from './redis-limiter.ts';
export { slots, slotsOfEach, slottedChat, slottedEmbedder } from './slots.ts';

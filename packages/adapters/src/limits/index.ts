export { limitedChat } from './limited-chat.ts';
export { memoryLimiter } from './memory-limiter.ts';
export { redisLimiter } from './redis-limiter.ts';

export { redisVectors } from './redis-vectors.ts';

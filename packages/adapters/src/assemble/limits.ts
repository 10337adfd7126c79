import type { Breaker, ChatModel, Limiter, Log } from '@slowwave/engine';
import type { Config } from '../config/index.ts';
import {
  type BreakingChat,
  breakingChat,
  limitedChat,
  memoryLimiter,
  postgresLimiter,
  redisLimiter,
} from '../limits/index.ts';
import { countWaits, measureBreakers } from '../metrics/index.ts';
import type { Observer } from './observer.ts';
import { connectionShares } from './stores.ts';

/** Of the tokens a provider allows; the rest is for answers that turn out longer than was thought when they were asked for. */
const TOKENS_SHARE = 0.95;

/** Holds what is asked of models to what their providers allow and bear. */
export interface Limits {
  /** The model, held so. */
  of(chat: ChatModel): ChatModel;
  /** How each model's breaker stands, by the model's name. */
  breakers(): Readonly<Record<string, Breaker['kind']>>;
  close(): Promise<void>;
}

/** All processes on one queue share what the provider allows; each finds out itself whether the provider answers. */
export function openLimits(config: Config, log: Log, { registry }: Pick<Observer, 'registry'>): Limits {
  const limiter = countWaits(limiterOf(config, log), registry);
  const models: BreakingChat[] = [];
  const breakers = () => Object.fromEntries(models.map((model) => [model.name, model.breaker()]));
  measureBreakers(registry, { breakers });
  return {
    of: (chat) => {
      const model = breakingChat(limitedChat(chat, { limiter, log }), { log });
      models.push(model);
      return model;
    },
    breakers,
    close: () => limiter.close(),
  };
}

function limiterOf(config: Config, log: Log): Limiter {
  const { redisUrl, databaseUrl, limits } = config;
  const { requestsPerMinute, tokensPerMinute } = limits;
  const held = {
    requestsPerMinute,
    tokensPerMinute: tokensPerMinute === null ? null : Math.floor(tokensPerMinute * TOKENS_SHARE),
  };
  if (redisUrl !== null) return redisLimiter(redisUrl, held);
  if (databaseUrl !== null) {
    return postgresLimiter({ url: databaseUrl, log, connections: connectionShares(config).limits }, held);
  }
  return memoryLimiter(held);
}

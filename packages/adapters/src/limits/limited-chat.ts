import { type ChatCall, type ChatModel, estimateTokens, type Limiter, type Log } from '@slowwave/engine';
import { limited } from './limited.ts';

/** Tokens an answer is thought to take before it is known. */
const ANSWER_TOKENS = 400;
/** What an image is thought to take: providers count from a hundred to two thousand. */
const IMAGE_TOKENS = 1_000;

/** A chat model that all workers together ask no more often than its provider allows. */
export const limitedChat = (chat: ChatModel, { limiter, log }: { limiter: Limiter; log: Log }): ChatModel => ({
  name: chat.name,
  ask: (call, cancel) =>
    limited(
      { model: chat.name, limiter, log },
      {
        tokens: estimateOf(call),
        cancel,
        lastLook: call.lastLook,
        ask: () => chat.ask(call, cancel),
        used: ({ usage }) => usage.promptTokens + usage.completionTokens,
      },
    ),
});

const estimateOf = ({ system, user, schema, images = [] }: ChatCall): number =>
  [system, user, JSON.stringify(schema)].reduce((sum, text) => sum + estimateTokens(text), 0) +
  images.length * IMAGE_TOKENS +
  ANSWER_TOKENS;

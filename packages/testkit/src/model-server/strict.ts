import type { JsonObject } from '@slowwave/engine';
import { answerText, countTokens } from './answering.ts';
import { promptText } from './reading.ts';
import { type Reply, refusal, type Script } from './script.ts';

const MINUTE_MS = 60_000;

export interface StrictLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** What a strict provider has seen. */
export interface Strict {
  readonly script: Script;
  /** Calls it refused with 429. */
  refused(): number;
  /** The most it answered in any 60 seconds. */
  peak(): { readonly requests: number; readonly tokens: number };
}

interface Call {
  readonly at: number;
  tokens: number;
}

/** A script behind a provider that counts requests and tokens over the last 60 seconds, and refuses what is beyond. */
export function strict(script: Script, limits: StrictLimits): Strict {
  const calls: Call[] = [];
  let refused = 0;
  return {
    script: async (scripted) => {
      const call = { at: Date.now(), tokens: promptTokensOf(scripted.request) };
      const before = within(calls, call.at);
      if (before.requests >= limits.requestsPerMinute || before.tokens + call.tokens > limits.tokensPerMinute) {
        refused += 1;
        return tooMany();
      }
      calls.push(call);
      const reply = await script(scripted);
      if ('json' in reply || 'text' in reply) call.tokens += countTokens(answerText(reply));
      return reply;
    },
    refused: () => refused,
    peak: () => {
      const windows = calls.map(({ at }) => within(calls, at));
      return {
        requests: Math.max(0, ...windows.map(({ requests }) => requests)),
        tokens: Math.max(0, ...windows.map(({ tokens }) => tokens)),
      };
    },
  };
}

/** What was answered in the 60 seconds up to a moment. */
function within(calls: readonly Call[], until: number): { requests: number; tokens: number } {
  const counted = calls.filter(({ at }) => at > until - MINUTE_MS && at <= until);
  return { requests: counted.length, tokens: counted.reduce((sum, { tokens }) => sum + tokens, 0) };
}

const promptTokensOf = (request: JsonObject): number => countTokens(promptText(request));

const tooMany = (): Reply => ({
  ...refusal(429, { message: 'Rate limit reached.', code: 'rate_limit_exceeded' }),
  headers: { 'retry-after': '1' },
});

import type { ChatCall } from '@slowwave/engine';
import { openaiChat } from '../src/openai/index.ts';

/** What models are asked where it matters only how they answer. */
export const CALL: ChatCall = {
  name: 'extract_facts',
  system: 'Find the facts.',
  user: 'The messages:\n{"messages":[{"id":"m0"}]}',
  schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
};
export const NEVER = new AbortController().signal;
export const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A model of the given server that is asked to stream, unless it is said otherwise. */
export const streamingChat = (baseUrl: string, more: Partial<Parameters<typeof openaiChat>[0]> = {}) =>
  openaiChat({
    ...{ apiKey: null, baseUrl, model: 'm', timeoutMs: 5_000, log: QUIET },
    stream: 'on',
    ...more,
  });

import type { IncomingHttpHeaders } from 'node:http';
import { UnansweredError } from '@slowwave/adapters/cells';
import { Agent, type Dispatcher } from 'undici';
import type { Asked } from './request.ts';

/** What a cell answers: the body is read once, by whoever takes it. */
export type Answer = Dispatcher.ResponseData;

export interface Sender {
  /** Passes a request on to a cell. `change`: what is different in it. Throws UnansweredError where nothing comes back. */
  send(cell: { readonly name: string; readonly url: string }, asked: Asked, change?: Change): Promise<Answer>;
  close(): Promise<void>;
}

interface Change {
  readonly url?: string;
  readonly method?: string;
  readonly body?: Buffer;
}

const CONNECT_LIMIT_MS = 3_000;
/** Longer than any long poll. */
const HEADERS_LIMIT_MS = 120_000;

/** Of one connection only, and what is made anew. Host stays: pages compare it with where they come from. */
const LEFT_OUT = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['content-length', 'x-slowwave-cell', 'x-slowwave-partial', 'x-forwarded-for'],
]);

/** What a cell answers, or that it does not, where another one may answer instead. */
export const answerOrSilence = (sent: Promise<Answer>): Promise<Answer | UnansweredError> =>
  sent.catch((error: unknown) => {
    if (error instanceof UnansweredError) return error;
    throw error;
  });

export function openSender(): Sender {
  const agent = new Agent({
    ...{ connect: { timeout: CONNECT_LIMIT_MS }, headersTimeout: HEADERS_LIMIT_MS, pipelining: 1 },
    // Events may be minutes apart; whoever waits for them hangs up.
    bodyTimeout: 0,
  });
  return {
    send: async ({ name, url }, asked, { url: path = asked.url, method = asked.method, body = asked.body } = {}) => {
      try {
        return await agent.request({
          ...{ origin: url.replace(/\/$/, ''), path, method: method as Dispatcher.HttpMethod, signal: asked.signal },
          headers: passedOn(asked),
          body: body.length === 0 ? null : body,
        });
      } catch (error) {
        if (asked.signal.aborted) throw error;
        throw new UnansweredError(name, error instanceof Error ? error.message || error.name : String(error), error);
      }
    },
    close: () => agent.close(),
  };
}

function passedOn({ headers, address }: Asked): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !LEFT_OUT.has(name)) kept[name] = value;
  }
  const before = headers['x-forwarded-for'];
  kept['x-forwarded-for'] = before === undefined ? address : `${String(before)}, ${address}`;
  return kept;
}

/** What goes back to the caller of what a cell said about its answer. */
export function passedBack(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_CONNECTION.has(name)) kept[name] = value;
  }
  return kept;
}

const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

import type { IncomingHttpHeaders } from 'node:http';
import { type AskCell, UnansweredError } from '@slowwave/adapters/cells';
import type { CallerView } from '@slowwave/contracts';
import type { Tools } from '@slowwave/engine';
import type { Cell, CellDirectory } from '@slowwave/engine/cells';
import { Agent, type Dispatcher } from 'undici';
import type { Tenants } from './tenants.ts';
import type { Watched } from './watch.ts';

/** A request that has arrived as a whole: it may have to be sent again. */
export interface Asked {
  readonly method: string;
  /** With the query, as it was sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly address: string;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

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

/** Names the cell that a request is for. */
export const CELL_HEADER = 'x-slowwave-cell';
/** true: an answer of all cells may lack those that do not answer. */
export const PARTIAL_HEADER = 'x-slowwave-partial';

const CONNECT_LIMIT_MS = 3_000;
/** Longer than any long poll. */
const HEADERS_LIMIT_MS = 120_000;

/** Of one connection only, and what is made anew. Host stays: pages compare it with where they come from. */
const LEFT_OUT = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['content-length', CELL_HEADER, PARTIAL_HEADER, 'x-forwarded-for'],
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

function passedOn({ headers, address }: Asked): Passed {
  const before = headers['x-forwarded-for'];
  const forwarded = before === undefined ? address : `${String(before)}, ${address}`;
  return { ...without(LEFT_OUT, headers), 'x-forwarded-for': forwarded };
}

/** What goes back to the caller of what a cell said about its answer. */
export const passedBack = (headers: IncomingHttpHeaders): Passed => without(OF_CONNECTION, headers);

type Passed = Record<string, string | string[]>;

function without(names: ReadonlySet<string>, headers: IncomingHttpHeaders): Passed {
  const kept: Passed = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !names.has(name)) kept[name] = value;
  }
  return kept;
}

const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

// A request on its way through the router, and what comes of it.

export interface RouteDeps {
  readonly watched: Watched;
  readonly tenants: Tenants;
  readonly sender: Sender;
  readonly directory: CellDirectory;
  /** Asks a cell as its operator. */
  readonly ask: AskCell;
  readonly tools: Pick<Tools, 'hash'>;
}

/** What the router answers: what a cell did, or what is made of what several did. */
export type Routing = Answer | Made;
export interface Made {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** A request on its way. */
export interface Going extends RouteDeps {
  readonly asked: Asked;
  readonly caller: CallerView;
  /** Sends it to a cell that knows what the tenant has in common. */
  to(cell: Cell, change?: Parameters<Sender['send']>[2]): Promise<Answer>;
}

export const headersOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === 'content-length' ? [] : [[name, String(value)]],
    ),
  );

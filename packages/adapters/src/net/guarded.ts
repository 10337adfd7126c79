import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type ChatModel, EngineError } from '@slowwave/engine';
import { hostOf, privateAddress, type UrlPolicy } from './url-policy.ts';

interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the start until the answer is read as far as it is wanted. */
  readonly timeoutMs: number;
  /** Of the answer's body; the rest is not read. */
  readonly bytesMax: number;
}

interface GuardedAnswer {
  /** As it came: a redirect is an answer too, and is not followed. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  /** There was more than bytesMax. */
  readonly cut: boolean;
}

/**
 * Asks a URL that a caller named, as far as the policy allows. Every request has a connection of its own, whose address
 * was checked.
 */
export function guardedRequest(
  text: string,
  ask: GuardedRequest,
  how: { readonly policy: UrlPolicy; readonly resolve?: Resolve },
): Promise<GuardedAnswer> {
  return new Promise((resolve, reject) => {
    const url = how.policy.check(text);
    const host = hostOf(url);
    const signal = AbortSignal.timeout(ask.timeoutMs);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const { method, headers } = ask;
    const request = send(url, {
      method,
      headers,
      signal,
      agent: false,
      lookup: guardedLookup(how.policy, how.resolve),
    });
    request.on('socket', (socket) => {
      // Addresses as such are never looked up: what the socket really reached is checked too, before a byte is sent.
      socket.on('connect', () => {
        if (!how.policy.mayConnect(host, socket.remoteAddress ?? '')) request.destroy(privateAddress(host));
      });
    });
    request.on('response', (response) => read(response, ask.bytesMax).then(resolve, reject));
    request.on('error', (error) => reject(asFailure(error, { signal, host, timeoutMs: ask.timeoutMs })));
    end(request, ask.body);
  });
}

function end(request: ClientRequest, body: string | undefined): void {
  if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
  request.end(body);
}

async function read(response: IncomingMessage, bytesMax: number): Promise<GuardedAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > bytesMax) break; // ends the connection
  }
  const { statusCode = 0, headers } = response;
  return { status: statusCode, headers, body: Buffer.concat(pieces).subarray(0, bytesMax), cut: bytes > bytesMax };
}

function asFailure(
  error: Error,
  { signal, host, timeoutMs }: { signal: AbortSignal; host: string; timeoutMs: number },
): Error {
  if (error instanceof EngineError) return error;
  const why = signal.aborted ? `no answer within ${timeoutMs} ms` : codeOf(error);
  return new EngineError(`the request to ${host} failed: ${why}`, { code: 'internal', retryable: true, cause: error });
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.message;

/**
 * A model that is shown images of callers. Its server fetches them, from where it stands: a name that leads into the
 * network from here is refused before the server hears of it. The server asks a name server of its own afterwards, so a
 * name that changes its meaning in between is not held up by this; docs/security.md says what is.
 */
export function guardedImages(
  chat: ChatModel,
  { policy, resolve = asSystem }: { readonly policy: UrlPolicy; readonly resolve?: Resolve },
): ChatModel {
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      for (const host of hostsOf(call.images ?? [])) await checkHost(host, { policy, resolve });
      return chat.ask(call, cancel);
    },
  };
}

/** Data URLs name none. */
function hostsOf(images: readonly string[]): ReadonlySet<string> {
  const remote = images.filter((image) => !image.startsWith('data:'));
  return new Set(remote.map((image) => hostOf(new URL(image))));
}

async function checkHost(host: string, how: { readonly policy: UrlPolicy; readonly resolve: Resolve }): Promise<void> {
  if (how.policy.mayConnect(host, host)) return; // an address that is public, or what the operator lists
  if (isIP(host) !== 0) throw privateAddress(host);
  const found = await how.resolve(host).catch((cause: unknown) => {
    throw unresolved(host, cause);
  });
  if (found.length === 0) throw unresolved(host, null);
  if (!found.every(({ address }) => how.policy.mayConnect(host, address))) throw privateAddress(host);
}

const unresolved = (host: string, cause: unknown): EngineError =>
  new EngineError(
    `expected the image host ${host} to have an address, got none; correct the URL, or send the image as a data URL`,
    { code: 'unsupported_content', retryable: true, cause },
  );

/** Finds all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** As every other connection of this machine does. */
const asSystem: Resolve = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });

/**
 * What a socket asks for the address it then connects to: a name that leads to a private address leads nowhere. The check
 * is of the very answer that is used, so a name that means something else a moment later gains nothing. Of several
 * addresses one that is refused is enough to refuse: nobody honest publishes such a mixture.
 */
function guardedLookup(policy: UrlPolicy, resolve: Resolve = asSystem): LookupFunction {
  return (host, options, done) => {
    const find = async (): Promise<void> => {
      const found = await resolve(host);
      if (found.length === 0) throw new Error(`the name ${host} has no address`);
      if (!found.every(({ address }) => policy.mayConnect(host, address))) throw privateAddress(host);
      answer(found);
    };
    const answer = (found: readonly LookupAddress[]): void => {
      const [first] = found;
      if (options.all === true) done(null, [...found]);
      else done(null, first?.address ?? '', first?.family);
    };
    find().catch((error: unknown) => done(error as NodeJS.ErrnoException, ''));
  };
}

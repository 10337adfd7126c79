import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { EngineError } from '@slowwave/engine';
import { guardedLookup, type Resolve } from './guarded-lookup.ts';
import { hostOf, privateAddress, type UrlPolicy } from './url-policy.ts';

export interface GuardedRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the start until the answer is read as far as it is wanted. */
  readonly timeoutMs: number;
  /** Of the answer's body; the rest is not read. */
  readonly bytesMax: number;
}

export interface GuardedAnswer {
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
  return new EngineError(`${host} was asked, and gave ${why}`, { code: 'internal', retryable: true, cause: error });
}

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.message;

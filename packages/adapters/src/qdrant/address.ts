import { EngineError } from '@slowwave/engine';

/** Where a server is, as its client has to be told. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly https: boolean;
  readonly prefix: string;
  /** For people. */
  readonly place: string;
}

/**
 * Takes a URL apart by the rules of URLs: given one, the client would turn https://host into port 6333 and drop a path
 * behind which a proxy may serve Qdrant.
 */
export function addressOf(text: string): Address {
  const url = URL.parse(text);
  const https = url?.protocol === 'https:';
  if (url === null || (!https && url.protocol !== 'http:'))
    throw unusable('a URL that begins with http:// or https://');
  if (url.username !== '' || url.password !== '') throw unusable('no user and password in it (use QDRANT_API_KEY)');
  if (url.search !== '' || url.hash !== '') throw unusable('no ? and no # in it');
  const port = url.port === '' ? (https ? 443 : 80) : Number(url.port);
  const prefix = url.pathname.replace(/\/+$/, '');
  return { host: url.hostname, port, https, prefix, place: `${url.protocol}//${url.hostname}:${port}${prefix}` };
}

/** The text itself is not repeated: it may hold a secret. */
function unusable(expected: string): EngineError {
  return new EngineError(`expected ${expected} as QDRANT_URL, e.g. http://127.0.0.1:6333; correct it`, {
    code: 'index_unavailable',
    retryable: false,
  });
}

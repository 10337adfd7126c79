import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '../loopback.ts';
import { type ProblemError, problem } from '../problem.ts';
import { sealer } from './seal.ts';

const NAME = 'slowwave_session';
/** A working day; then somebody has to show the key again. */
const LASTS_S = 12 * 60 * 60;
const SECOND_MS = 1_000;

/** What a browser carries after somebody has shown a key: the key itself, sealed. So it ends when the key ends. */
export interface Sessions {
  /** The key that a request's session was begun with; null: it has none that counts. */
  keyOf(request: FastifyRequest): string | null;
  begin(reply: FastifyReply, key: string): void;
  end(reply: FastifyReply): void;
}

export function sessions(apiKey: string | null, now: () => number = Date.now): Sessions {
  const { seal, unseal } = sealer(apiKey);
  return {
    keyOf: (request) => {
      const cookie = cookieOf(request);
      const text = cookie === null ? null : unseal(cookie);
      if (text === null) return null;
      const { key, until } = JSON.parse(text) as { key: string; until: number };
      return now() < until ? key : null;
    },
    begin: (reply, key) => {
      const sealed = seal(JSON.stringify({ key, until: now() + LASTS_S * SECOND_MS }));
      setCookie(reply, sealed, LASTS_S);
    },
    end: (reply) => setCookie(reply, '', 0),
  };
}

/** Not for scripts, never sent along from other sites, and over https only where the request came so. */
function setCookie(reply: FastifyReply, value: string, seconds: number): void {
  const secure = isHttps(reply.request) ? '; Secure' : '';
  reply.header('set-cookie', `${NAME}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`);
}

const isHttps = (request: FastifyRequest): boolean =>
  request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https';

function cookieOf({ headers }: FastifyRequest): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === NAME && value !== undefined) return value;
  }
  return null;
}

const READS = new Set(['GET', 'HEAD']);

/**
 * Whether a browser sends this of its own page: a page of somebody else's must not act with the session. Requests that
 * only read pass: their answers stay unreadable for others.
 */
export function isOwn({ method, headers }: FastifyRequest): boolean {
  if (READS.has(method)) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin !== undefined && URL.canParse(headers.origin) && new URL(headers.origin).host === headers.host;
}

/**
 * Whether a page of another site has the browser send this: where no key is needed that is all it takes. Programs, and
 * pages of this machine, are not of another site. Links to our pages may stand anywhere.
 */
export function isForeign({ method, headers, routeOptions }: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (site === 'cross-site') return !(READS.has(method) && mode === 'navigate' && routeOptions.config.page === true);
  if (site !== undefined || origin === undefined) return false;
  return !(URL.canParse(origin) && isLoopback(new URL(origin).hostname));
}

export const foreign = (): ProblemError =>
  problem('forbidden', 'the request came from a page of another site; send it from a page of this server');

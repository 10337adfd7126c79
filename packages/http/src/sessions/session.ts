import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ProblemError, problem } from '../errors.ts';
import { isLoopback } from '../serve.ts';

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

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Makes texts unreadable and unchangeable for who carries them, and readable again. */
interface Sealer {
  seal(text: string): string;
  /** null: not sealed here, or changed since. */
  unseal(sealed: string): string | null;
}

/** Seals with what processes with the same static key share; without one, with what only this process has. */
export function sealer(apiKey: string | null): Sealer {
  const key =
    apiKey === null
      ? randomBytes(KEY_BYTES)
      : Buffer.from(hkdfSync('sha256', apiKey, '', 'slowwave session', KEY_BYTES));
  return {
    seal: (text) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    unseal: (text) => {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)).toString('utf8') + decipher.final('utf8');
      } catch {
        return null;
      }
    },
  };
}

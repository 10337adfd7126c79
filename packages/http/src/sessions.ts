import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Principal, RefusedKeyError } from './access.ts';
import { ProblemError, problem } from './errors.ts';
import { isLoopback } from './serve.ts';
import type { App, Routes } from './shell.ts';

const NAME = 'slowwave_session';
/** A working day; then people sign in again. */
const LASTS_S = 12 * 60 * 60;
const SECOND_MS = 1_000;

/** Somebody who signed in with a key, at that time. */
export interface Session {
  readonly key: string;
  readonly begunAt: number;
}

/** The cookie of a session: the encrypted key itself. A session therefore ends when the key ends. */
export interface Sessions {
  /** The session of a request; null: it has no valid one. */
  of(request: FastifyRequest): Promise<Session | null>;
  begin(reply: FastifyReply, key: string): Promise<void>;
  end(reply: FastifyReply): void;
}

/** Sealed with a secret that the processes share: a session begins at one and counts at all of them. */
export function sessions(secret: () => Promise<string>, now: () => number = Date.now): Sessions {
  let sealing: Sealer | null = null;
  const sealed = async (): Promise<Sealer> => (sealing ??= sealer(await secret()));
  return {
    of: async (request) => {
      const cookie = cookieOf(request);
      const text = cookie === null ? null : (await sealed()).unseal(cookie);
      if (text === null) return null;
      const { key, until } = JSON.parse(text) as { key: string; until: number };
      return now() < until ? { key, begunAt: until - LASTS_S * SECOND_MS } : null;
    },
    begin: async (reply, key) => {
      const text = JSON.stringify({ key, until: now() + LASTS_S * SECOND_MS });
      setCookie(reply, (await sealed()).seal(text), LASTS_S);
    },
    end: (reply) => setCookie(reply, '', 0),
  };
}

/** Not readable by scripts, never sent from other sites, and limited to https if the request used it. */
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
 * Whether a browser sends this from our own page: a foreign page must not act with the session. Reads are allowed, because
 * foreign pages cannot see the response.
 */
export const isOwn = (request: FastifyRequest): boolean => READS.has(request.method) || comesFromUs(request);

/** What scripts of our pages add to every call. Scripts of other sites may not, without being asked first whether they may. */
const OF_OUR_SCRIPTS = 'x-slowwave-console';

/**
 * Whether a script of our own page sends this: reads, too, have to show where they come from, because an answer of the API is
 * data and not only a page.
 */
export const isOfOurScripts = (request: FastifyRequest): boolean =>
  request.headers[OF_OUR_SCRIPTS] !== undefined && comesFromUs(request);

/** By what browsers alone can write. Without https some send no sec-fetch-site, and reads no origin: then the referrer counts. */
function comesFromUs({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, referer, host } = headers;
  if (site !== undefined) return site === 'same-origin';
  const from = origin ?? referer;
  return from !== undefined && URL.canParse(from) && new URL(from).host === host;
}

/**
 * Whether a page of another site makes the browser send this, which is a danger if no key is needed. Programs and pages of
 * this machine are not another site. Links to our pages may be anywhere.
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

/** Encrypts and authenticates texts. */
interface Sealer {
  seal(text: string): string;
  /** null: not sealed here, or modified since. */
  unseal(sealed: string): string | null;
}

/** A secret of this process alone. */
export const ownSecret = (): string => randomBytes(KEY_BYTES).toString('base64url');

/** Uses a key derived from a secret. */
export function sealer(secret: string): Sealer {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'slowwave session', KEY_BYTES));
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

/** Finds the principal of a key; throws a problem if it is refused. */
export type Known = (key: string, request: FastifyRequest) => Promise<Principal>;

const LOGIN = '/login';
const KEY_MAX = 500;
const NEXT_MAX = 2_000;
const Next = z.object({ next: z.string().max(NEXT_MAX).default('/') });
const Shown = Next.extend({ key: z.string().max(KEY_MAX) });

/** Throws a problem if a request may not sign in at all. */
type MayLogIn = (request: FastifyRequest) => Promise<void>;

/** Where people sign in with a key, and sign out. */
export const loginRoutes =
  (sessions: Sessions, known: Known, mayLogIn: MayLogIn): Routes =>
  async (app) => {
    allowPages(app);
    // Before the body is read: anybody can send these requests.
    app.addHook('onRequest', async (request) => {
      await mayLogIn(request);
      if (!isOwn(request)) throw foreign();
    });
    app.addHook('onRoute', (route) => {
      route.schema = { ...route.schema, hide: true };
      route.config = { ...route.config, open: true };
    });
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );
    app.get(LOGIN, { schema: { querystring: Next } }, async (request, reply) =>
      page(reply, {
        next: here(request.query.next),
        refusal: null,
        signedIn: (await sessions.of(request)) !== null,
      }),
    );
    app.post(LOGIN, { schema: { body: Shown }, config: { audited: true } }, async (request, reply) => {
      const next = here(request.body.next);
      const key = request.body.key.trim();
      const refusal = await refusalOf(known, { request, key });
      if (refusal !== null)
        return page(reply.code(refusal.statusCode).headers(refusal.headers), {
          next,
          refusal: refusal.message,
          signedIn: false,
        });
      await sessions.begin(reply, key);
      return reply.redirect(next, SEE_OTHER);
    });
    app.post('/logout', async (_request, reply) => {
      sessions.end(reply);
      return reply.redirect(LOGIN, SEE_OTHER);
    });
  };

const SEE_OTHER = 303;

const page = (reply: FastifyReply, of: Parameters<typeof loginPage>[0]) =>
  reply.type('text/html; charset=utf-8').send(loginPage(of));

/** Why a key is refused; null: it is accepted, and the request is that of its owner. */
async function refusalOf(
  known: Known,
  { request, key }: { request: FastifyRequest; key: string },
): Promise<ProblemError | null> {
  try {
    const principal = await known(key, request);
    if (principal.came?.by === 'link') return problem('unauthorized', LINK_AS_KEY);
    request.principal = principal;
    return null;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    request.problemCode = error.code;
    if (error instanceof RefusedKeyError) request.refusedKey = error.key;
    return error;
  }
}

const LINK_AS_KEY = 'this is a link and not a key; open it in a browser as it is';

/** Only a path of this server: a link to the login must not lead elsewhere. */
const here = (next: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/');

/** Redirects a person who opens a page without a session to the login page. */
export function toLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(`${LOGIN}?${new URLSearchParams({ next: request.url })}`, SEE_OTHER);
}

/** Whether a person opens one of our pages in a browser. */
export const isPageView = (request: FastifyRequest): boolean =>
  request.method === 'GET' &&
  request.routeOptions.config.page === true &&
  request.headers.accept?.includes('text/html') === true;

interface PageShown {
  readonly next: string;
  readonly refusal: string | null;
  /** Somebody is signed in already. */
  readonly signedIn: boolean;
}

/** The page to sign in and out. It loads nothing and has no script. */
function loginPage(shown: PageShown): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Slowwave: sign in</title>
<style>
  :root { --back: #f4f5f7; --card: #fff; --ink: #1d2330; --line: #8a93a3; --act: #2b4c9b; --wrong: #a11; }
  @media (prefers-color-scheme: dark) {
    :root { --back: #14171d; --card: #20252e; --ink: #e6e9ef; --line: #76808f; --act: #3d63bf; --wrong: #ff8f8f; }
  }
  body { font: 16px/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 100vh; margin: 0; background: var(--back); color: var(--ink); }
  main { background: var(--card); padding: 2rem; border-radius: 8px; box-shadow: 0 1px 4px #0003; width: min(22rem, 80vw); box-sizing: border-box; }
  h1 { font-size: 1.25rem; margin: 0 0 1rem; }
  p { margin: 0 0 1rem; }
  a { color: inherit; }
  label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
  input { padding: .5rem; margin: .25rem 0 1rem; border: 1px solid var(--line); border-radius: 4px; background: var(--card); color: var(--ink); }
  button { padding: .5rem; border: 0; border-radius: 4px; background: var(--act); color: #fff; cursor: pointer; }
  form + form { margin-top: 1.5rem; }
  .quiet { background: none; border: 1px solid var(--line); color: var(--ink); }
  [role=alert] { color: var(--wrong); }
</style>
</head>
<body>
<main>
  <h1>Slowwave</h1>${shown.signedIn ? SIGNED_IN : ''}
${form(shown)}${shown.signedIn ? SIGN_OUT : ''}
</main>
</body>
</html>
`;
}

const SIGNED_IN = `
  <p>You are signed in: <a href="/">console</a>, <a href="/queues">queues</a>, <a href="/docs/">API</a>.</p>`;

const SIGN_OUT = `
  <form method="post" action="/logout"><button class="quiet">Sign out</button></form>`;

function form({ next, refusal, signedIn }: PageShown): string {
  const alert = refusal === null ? '' : `\n    <p role="alert">${escaped(refusal)}</p>`;
  return `  <form method="post" action="/login">${alert}
    <input type="hidden" name="next" value="${escaped(next)}">
    <label for="key">${signedIn ? 'Another key' : 'Key'}</label>
    <input id="key" name="key" type="password" autocomplete="current-password" required${signedIn ? '' : ' autofocus'}>
    <button>Sign in</button>
  </form>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/**
 * Allows the pages of this plugin to load their own scripts, styles and images, and nothing from elsewhere. Only these
 * pages can be opened with a session as well as with a key.
 */
export function allowPages(app: App): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, page: true };
  });
  app.addHook('onRequest', async (_request, reply) => {
    // The referrer shows whether a form comes from here if a browser sends nothing else.
    reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'same-origin');
  });
}

/** For pages made for people: everything they load comes from here. Their styles are partly inline. */
const PAGE_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** For the console: nothing in it is inline, and nothing comes from elsewhere. `ancestors`: who may show it in a frame. */
export const consolePolicy = (ancestors: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ].join('; ');

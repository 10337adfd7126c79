import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { allowPages } from '../headers.ts';
import type { Principal } from '../principal.ts';
import { ProblemError } from '../problem.ts';
import { RefusedKeyError } from '../refused-key.ts';
import type { Routes } from '../types.ts';
import { loginPage } from './login-page.ts';
import { foreign, isOwn, type Sessions } from './session.ts';

/** Whom a key stands for; throws a problem where it is refused. */
export type Known = (key: string, request: FastifyRequest) => Promise<Principal>;

const LOGIN = '/login';
const KEY_MAX = 500;
const NEXT_MAX = 2_000;
const Next = z.object({ next: z.string().max(NEXT_MAX).default('/queues') });
const Shown = Next.extend({ key: z.string().max(KEY_MAX) });

/** Who may send a login at all; throws a problem otherwise. */
export type MayLogIn = (request: FastifyRequest) => Promise<void>;

/** Where people show a key, and where they go to have it forgotten. */
export const loginRoutes =
  (sessions: Sessions, known: Known, mayLogIn: MayLogIn): Routes =>
  async (app) => {
    allowPages(app);
    // Before a byte of a body is read: anybody can send these.
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
      page(reply, { next: here(request.query.next), refusal: null, signedIn: sessions.keyOf(request) !== null }),
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
      sessions.begin(reply, key);
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

/** Why a key opens nothing; null: the request is from now on that of who showed it. */
async function refusalOf(
  known: Known,
  { request, key }: { request: FastifyRequest; key: string },
): Promise<ProblemError | null> {
  try {
    request.principal = await known(key, request);
    return null;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    request.problemCode = error.code;
    if (error instanceof RefusedKeyError) request.refusedKey = error.key;
    return error;
  }
}

/** Only a path of this server: a link to the login must not lead elsewhere. */
const here = (next: string): string => (/^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/queues');

/** Sends a person who looks at a page without a session to where they can show a key. */
export function toLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.redirect(`${LOGIN}?${new URLSearchParams({ next: request.url })}`, SEE_OTHER);
}

/** Whether a person looks at a page of ours in a browser. */
export const isPageView = (request: FastifyRequest): boolean =>
  request.method === 'GET' &&
  request.routeOptions.config.page === true &&
  request.headers.accept?.includes('text/html') === true;

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type CheckedKey,
  keyIn,
  LOOPBACK,
  OPERATOR,
  type Principal,
  RefusedKeyError,
  refusalOfScope,
} from './access.ts';
import { ProblemError, problem, report, sendProblem } from './errors.ts';
import { isLoopback } from './serve.ts';
import { isPageView, type Known, loginRoutes, toLogin } from './sessions/login.ts';
import { foreign, isForeign, isOwn, type Sessions, sessions } from './sessions/session.ts';
import type { App, AuthOptions, HttpLog, Routes } from './types.ts';
import { guesses } from './wrong-keys.ts';

/** Lets a request in or refuses it, before anything of its body is read. Answers with where people sign in. */
export function registerAuth(app: App, auth: AuthOptions, log: HttpLog): Routes {
  app.decorateRequest('principal', null);
  app.decorateRequest('refusedKey', null);
  const begun = sessions(auth.apiKey);
  const known = knowing(auth);
  const needsKey = async (): Promise<boolean> =>
    auth.apiKey !== null || (auth.keys !== null && (await auth.keys.any()));
  const fromHere = onlyFromHere();
  const whoAsks = asking({ ...auth, begun, known, needsKey, fromHere });
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.open === true) return;
    // Answered here and not thrown: pages of others bring error handlers of their own.
    try {
      request.principal = await whoAsks(request);
    } catch (error) {
      return refuse(error, { request, reply, log });
    }
    const refusal = refusalOfScope(request, request.principal);
    if (refusal !== null) return sendProblem(reply, refusal);
  });
  return loginRoutes(begun, known, async (request) => {
    if (!(await needsKey())) fromHere(request);
  });
}

interface Refused {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: HttpLog;
}

/** People who look at a page are asked for a key; programs are told that they need one. */
function refuse(error: unknown, { request, reply, log }: Refused): FastifyReply {
  if (error instanceof RefusedKeyError) request.refusedKey = error.key;
  const told = error instanceof ProblemError ? error : report(error, request, log);
  if (told.statusCode === UNAUTHORIZED && isPageView(request)) return toLogin(request, reply);
  return sendProblem(reply, told);
}

const UNAUTHORIZED = 401;

interface Asking extends AuthOptions {
  readonly begun: Sessions;
  readonly known: Known;
  readonly needsKey: () => Promise<boolean>;
  /** Throws a problem where a request without a key does not come from this machine. */
  readonly fromHere: (request: FastifyRequest) => void;
}

/** Tells who asks; throws a problem where nobody may. */
const asking =
  ({ keys, begun, known, needsKey, fromHere }: Asking) =>
  async (request: FastifyRequest): Promise<Principal> => {
    const given = keyIn(request.headers) ?? sessionKeyOf(request, begun);
    if (!(await needsKey())) return (await alreadyGiven(keys, given)) ?? withoutKey(request, fromHere);
    if (given === null) throw unauthorized(NO_KEY);
    return known(given, request);
  };

/** A browser of this machine also sends what pages of other sites tell it to. */
function withoutKey(request: FastifyRequest, fromHere: Asking['fromHere']): Principal {
  fromHere(request);
  if (isForeign(request)) throw foreign();
  return LOOPBACK;
}

/** The first key may have been made a moment ago: whoever sends it is nobody else from the beginning. */
async function alreadyGiven(keys: AuthOptions['keys'], given: string | null): Promise<Principal | null> {
  if (keys === null || given?.startsWith(GIVEN) !== true) return null;
  const checked = await keys.check(given);
  return checked.kind === 'taken' ? checked.principal : null;
}

/** How all keys begin that were given out. */
const GIVEN = 'sw_';

/**
 * Whom a key stands for. Only the operator's can be short enough to be guessed: how many texts are compared with it is limited. The
 * others are looked up whatever came before, so that a right one is never kept waiting.
 */
function knowing({ apiKey, keys }: AuthOptions): Known {
  const expected = apiKey === null ? null : digest(apiKey);
  const alike = apiKey?.startsWith(GIVEN) === true;
  const tried = guesses();
  return async (given, request) => {
    const sent = digest(given);
    if (expected !== null && (alike || !given.startsWith(GIVEN))) {
      tried.admit(request, sent);
      if (timingSafeEqual(sent, expected)) {
        tried.right(request, sent);
        return OPERATOR;
      }
    }
    const checked: CheckedKey = keys === null ? UNKNOWN : await keys.check(given);
    if (checked.kind === 'taken') return checked.principal;
    // Who sends a key that has ended had it once, and guesses nothing.
    if (checked.reason === 'unknown') tried.wrong(request, sent);
    throw new RefusedKeyError(REFUSALS[checked.reason], { key: checked.key ?? null, headers: CHALLENGE });
  };
}

/** A session opens pages alone: the API takes keys, so that no page of somebody else's can use it through a browser. */
function sessionKeyOf(request: FastifyRequest, begun: Sessions): string | null {
  if (request.routeOptions.config.page !== true || !isOwn(request)) return null;
  return begun.keyOf(request);
}

const UNKNOWN: CheckedKey = { kind: 'refused', reason: 'unknown' };

/**
 * Without a key only this machine can connect. A web page of somebody else's could still reach the port through the
 * browser with a name that resolves here; its requests name another host.
 */
function onlyFromHere(): (request: FastifyRequest) => void {
  let last: string | null = null; // of the hosts that are this machine; callers repeat themselves
  return ({ hostname }) => {
    if (hostname === last) return;
    if (!isLoopback(hostname)) throw problem('forbidden', NOT_FROM_HERE);
    last = hostname;
  };
}

const NOT_FROM_HERE =
  'no key is configured, so only requests to localhost are answered, and this request names another host; set ' +
  'SLOWWAVE_API_KEY to allow other hosts';

/** Digests have one length, so that comparing them tells nothing about the key. */
const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

const NO_KEY = 'expected a key, got none; send the header authorization: Bearer <key>';

const REFUSALS: Readonly<Record<Extract<CheckedKey, { kind: 'refused' }>['reason'], string>> = {
  unknown: 'unknown key; check the key you send, or SLOWWAVE_API_KEY on the server',
  replaced: 'this secret of the key has been replaced; use the new one',
  expired: 'this key has expired; request a new one',
  revoked: 'this key has been revoked; request a new one',
};

const CHALLENGE = { 'www-authenticate': 'Bearer realm="slowwave"' };

const unauthorized = (detail: string): ProblemError => problem('unauthorized', detail, { headers: CHALLENGE });

import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type CheckedKey,
  keyIn,
  LOOPBACK,
  narrowed,
  OPERATOR,
  type Principal,
  RefusedKeyError,
  refusalOfScope,
} from './access.ts';
import { ProblemError, problem, report, sendProblem, tooManyRequests } from './errors.ts';
import { isLoopback } from './serve.ts';
import {
  foreign,
  isForeign,
  isOfOurScripts,
  isOwn,
  isPageView,
  type Known,
  loginRoutes,
  ownSecret,
  type Session,
  type Sessions,
  sessions,
  toLogin,
} from './sessions.ts';
import type { App, AuthOptions, HttpLog, Routes } from './shell.ts';

/** Authenticates requests before their body is read. Returns the routes to sign in. */
export function registerAuth(app: App, auth: AuthOptions, log: HttpLog): Routes {
  app.decorateRequest('principal', null);
  app.decorateRequest('refusedKey', null);
  const begun = sessions(secretOf(auth));
  const known = knowing(auth);
  const needsKey = async (): Promise<boolean> =>
    auth.apiKey !== null || (auth.keys !== null && (await auth.keys.any()));
  const fromHere = onlyFromHere();
  const whoAsks = asking({ ...auth, begun, known, needsKey, fromHere });
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.open === true) return;
    // Sent here and not thrown: pages of libraries bring their own error handlers.
    try {
      request.principal = narrowed(await whoAsks(request), request.headers);
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

/** What sessions are sealed with: the static key, which all processes have, else what the ledger keeps for it. */
function secretOf({ apiKey, keys }: AuthOptions): () => Promise<string> {
  const own = ownSecret();
  return async () => apiKey ?? (await keys?.seal?.()) ?? own;
}

interface Refused {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly log: HttpLog;
}

/** Redirects people to the login page; programs get a problem. */
function refuse(error: unknown, { request, reply, log }: Refused): FastifyReply {
  if (error instanceof RefusedKeyError) request.refusedKey = error.key;
  const failure = error instanceof ProblemError ? error : report(error, request, log);
  if (failure.statusCode === UNAUTHORIZED && isPageView(request)) return toLogin(request, reply);
  return sendProblem(reply, failure);
}

const UNAUTHORIZED = 401;

interface Asking extends AuthOptions {
  readonly begun: Sessions;
  readonly known: Known;
  readonly needsKey: () => Promise<boolean>;
  /** Throws a problem if a request without a key does not come from this machine. */
  readonly fromHere: (request: FastifyRequest) => void;
}

/** Finds out who sent a request; throws a problem if it is refused. */
const asking =
  ({ keys, begun, known, needsKey, fromHere }: Asking) =>
  async (request: FastifyRequest): Promise<Principal> => {
    const sent = keyIn(request.headers);
    const session = sent === null ? await sessionOf(request, begun) : null;
    const given = sent ?? session?.key ?? null;
    // Also where no key is needed: a link that has ended must not become the right to do everything.
    if (given?.startsWith(OF_LINK) === true) return known(given, request);
    if (!(await needsKey())) return (await alreadyGiven(keys, given)) ?? withoutKey(request, fromHere);
    if (given === null) throw unauthorized(NO_KEY);
    const principal = await known(given, request);
    return session === null ? principal : { ...principal, came: { by: 'session', at: session.begunAt } };
  };

/** A browser on this machine also sends requests of pages of other sites. */
function withoutKey(request: FastifyRequest, fromHere: Asking['fromHere']): Principal {
  fromHere(request);
  if (isForeign(request)) throw foreign();
  return LOOPBACK;
}

/** The first key may be brand-new: its sender is recognised from the start. */
async function alreadyGiven(keys: AuthOptions['keys'], given: string | null): Promise<Principal | null> {
  if (keys === null || given?.startsWith(GIVEN) !== true) return null;
  const checked = await keys.check(given);
  return checked.kind === 'taken' ? checked.principal : null;
}

/** The prefix of all keys of the ledger. */
const GIVEN = 'sw_';
/** That of links and of the tokens they are exchanged for. */
const OF_LINK = `${GIVEN}lnk_`;

/**
 * Finds the principal of a key. Only the operator's key can be short enough to guess, so comparisons with it are limited.
 * Other keys are always looked up, so that a right one is never delayed.
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
    // A key that is no longer valid is not a guess.
    if (checked.reason === 'unknown') tried.wrong(request, sent);
    throw refused(checked, given);
  };
}

/** What was sent says whether it was meant as a link. */
function refused({ reason, key }: Extract<CheckedKey, { kind: 'refused' }>, given: string): RefusedKeyError {
  const how = { key: key ?? null, headers: CHALLENGE };
  if (reason === 'opened') return new RefusedKeyError('link_opened', REFUSALS_OF_LINKS.opened, how);
  const detail = (given.startsWith(OF_LINK) ? REFUSALS_OF_LINKS : REFUSALS)[reason];
  return new RefusedKeyError('unauthorized', detail, how);
}

/** A session opens pages, and the API to the scripts of these pages: no foreign page can use it through a browser. */
async function sessionOf(request: FastifyRequest, begun: Sessions): Promise<Session | null> {
  const allowed = request.routeOptions.config.page === true ? isOwn(request) : isOfOurScripts(request);
  return allowed ? begun.of(request) : null;
}

const UNKNOWN: CheckedKey = { kind: 'refused', reason: 'unknown' };

/**
 * Without a key only this machine can connect. A foreign web page could still reach the port through the browser, with a
 * name that resolves to this machine; its requests name that host.
 */
function onlyFromHere(): (request: FastifyRequest) => void {
  let last: string | null = null; // the last local host name: callers repeat it
  return ({ hostname }) => {
    if (hostname === last) return;
    if (!isLoopback(hostname)) throw problem('forbidden', NOT_FROM_HERE);
    last = hostname;
  };
}

const NOT_FROM_HERE =
  'no key is configured, so only requests to localhost are answered, and this request names another host; set ' +
  'SLOWWAVE_API_KEY to allow other hosts';

/** Digests have one length, so that comparing them reveals nothing about the key. */
const digest = (key: string): Buffer => createHash('sha256').update(key).digest();

const NO_KEY = 'expected a key, got none; send the header authorization: Bearer <key>';

type Reason = Extract<CheckedKey, { kind: 'refused' }>['reason'];

const REFUSALS: Readonly<Record<Exclude<Reason, 'opened'>, string>> = {
  unknown: 'unknown key; check the key you send, or SLOWWAVE_API_KEY on the server',
  replaced: 'this secret of the key has been replaced; use the new one',
  expired: 'this key has expired; request a new one',
  revoked: 'this key has been revoked; request a new one',
};

const ENDED_LINK = 'this link is invalid or was ended; request a new one';
const REFUSALS_OF_LINKS: Readonly<Record<Reason, string>> = {
  unknown: ENDED_LINK,
  replaced: ENDED_LINK,
  revoked: ENDED_LINK,
  expired: 'this link has expired, or its page was open for too long; request a new one',
  opened: 'this link has already been opened, and each link opens only once; request a new one',
};

const CHALLENGE = { 'www-authenticate': 'Bearer realm="slowwave"' };

const unauthorized = (detail: string): ProblemError => problem('unauthorized', detail, { headers: CHALLENGE });

/** How many wrong keys a network may send at once, and after how many ms it may send one more. */
const OF_ONE: Rate = { most: 20, backMs: 3_000 };
/** The same for all networks together: against distributed guessing, or forged addresses. */
const OF_ALL: Rate = { most: 1_000, backMs: 100 };
/** Remembered networks, about 2 MB; the oldest are forgotten first. */
const NETWORKS_MAX = 10_000;
/** Remembered keys, each with its network and whether it was right. */
const KEYS_MAX = 10_000;

interface Guesses {
  /** Throws if the network sent too many wrong keys lately, unless it sent this key before. */
  admit(request: FastifyRequest, digest: Buffer): void;
  right(request: FastifyRequest, digest: Buffer): void;
  /** Counts a wrong key; throws if there were too many. */
  wrong(request: FastifyRequest, digest: Buffer): void;
}

/**
 * Slows down guessing. A network is stopped by its own bucket long before the common one is empty, so it cannot lock out
 * others. A key that was right before stays accepted, whatever its network sends. The same wrong key is counted once: it
 * comes from a program with an old key.
 */
export function guesses(now: () => number = performance.now.bind(performance)): Guesses {
  const networks = new Map<string, Bucket>();
  const looked = new Map<string, 'right' | 'wrong'>();
  const all = bucketOf(OF_ALL, now());
  const waitOf = (network: string): number =>
    Math.max(waitFor(networks.get(network), OF_ONE, now()), waitFor(all, OF_ALL, now()));
  const note = (key: string, value: 'right' | 'wrong'): void => remember(looked, { key, value, max: KEYS_MAX });
  return {
    admit: (request, digest) => {
      const network = networkOf(request);
      const waitMs = waitOf(network);
      if (waitMs > 0 && !looked.has(nameOf(network, digest))) throw tooMany(waitMs);
    },
    right: (request, digest) => note(nameOf(networkOf(request), digest), 'right'),
    wrong: (request, digest) => {
      const network = networkOf(request);
      const name = nameOf(network, digest);
      if (looked.get(name) === 'wrong') return note(name, 'wrong');
      const waitMs = waitOf(network);
      if (waitMs > 0) throw tooMany(waitMs);
      const bucket = networks.get(network) ?? bucketOf(OF_ONE, now());
      take(bucket, OF_ONE, now());
      take(all, OF_ALL, now());
      remember(networks, { key: network, value: bucket, max: NETWORKS_MAX });
      note(name, 'wrong');
    },
  };
}

interface Rate {
  readonly most: number;
  readonly backMs: number;
}

interface Bucket {
  left: number;
  at: number;
}

const bucketOf = ({ most }: Rate, at: number): Bucket => ({ left: most, at });

const leftIn = ({ left, at }: Bucket, { most, backMs }: Rate, now: number): number =>
  Math.min(most, left + (now - at) / backMs);

/** Until one more is allowed, in ms. */
const waitFor = (bucket: Bucket | undefined, rate: Rate, now: number): number =>
  bucket === undefined ? 0 : Math.max(0, (1 - leftIn(bucket, rate, now)) * rate.backMs);

function take(bucket: Bucket, rate: Rate, now: number): void {
  bucket.left = leftIn(bucket, rate, now) - 1;
  bucket.at = now;
}

/** Appends the newest; above the limit, drops the oldest. */
function remember<T>(map: Map<string, T>, { key, value, max }: { key: string; value: T; max: number }): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

const nameOf = (network: string, digest: Buffer): string => `${network} ${digest.toString('base64')}`;

/** An IPv4 address, or the first 64 bits of an IPv6 address, which one subscriber has. */
function networkOf(request: FastifyRequest): string {
  const address = addressOf(request);
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, GROUPS - groups.length - after.length)).fill('0');
  return [...groups, ...zeros, ...after].slice(0, GROUPS / 2).join(':');
}

const GROUPS = 8;

/**
 * Where a request comes from. Only proxies in private networks are trusted, and of their header only the last public
 * address: anybody can have written what precedes it.
 */
function addressOf({ ip, headers }: FastifyRequest): string {
  const peer = plainAddress(ip);
  if (!isOurs(peer)) return peer;
  const said = String(headers['x-forwarded-for'] ?? '').split(',');
  const named = said.map((one) => plainAddress(one.trim())).filter((one) => isIP(one) !== 0);
  return named.findLast((one) => !isOurs(one)) ?? named.at(-1) ?? peer;
}

const plainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/u, '');

/** Networks in which proxies of this installation may be. */
const OURS = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  OURS.addSubnet(network, bits, 'ipv4');
}
OURS.addAddress('::1', 'ipv6');
OURS.addSubnet('fc00::', 7, 'ipv6');

function isOurs(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && OURS.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

function tooMany(waitMs: number) {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const detail = `too many wrong keys were sent from this address; wait ${seconds} s and check the key`;
  return tooManyRequests(detail, seconds);
}

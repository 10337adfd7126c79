import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
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
import {
  foreign,
  isForeign,
  isOwn,
  isPageView,
  type Known,
  loginRoutes,
  type Sessions,
  sessions,
  toLogin,
} from './sessions.ts';
import type { App, AuthOptions, HttpLog, Routes } from './types.ts';

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

/** Wrong keys that one network may send at once, and how soon one more is free, in ms: people mistype, programs repeat themselves. */
const OF_ONE: Rate = { most: 20, backMs: 3_000 };
/** Of all networks together: many machines that guess as one, or one that lies about its address. */
const OF_ALL: Rate = { most: 1_000, backMs: 100 };
/** Networks that are remembered, some 2 MB: the oldest are forgotten first. */
const NETWORKS_MAX = 10_000;
/** Keys that were looked at, each with its network and what came of it. */
const KEYS_MAX = 10_000;

export interface Guesses {
  /** Throws where too many wrong keys came from there lately, unless this very key came from there before. */
  admit(request: FastifyRequest, digest: Buffer): void;
  right(request: FastifyRequest, digest: Buffer): void;
  /** Counts a wrong key; throws where there were too many. */
  wrong(request: FastifyRequest, digest: Buffer): void;
}

/**
 * Slows guessing down. Who guesses from one network is stopped by its own bucket long before that of all is empty, so nobody
 * locks others out; and where a key was right before it goes on being right, whatever a neighbour sends. The same wrong key
 * again and again is a program with an old key and no guess: it is counted once.
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

/** In ms, until one more is free. */
const waitFor = (bucket: Bucket | undefined, rate: Rate, now: number): number =>
  bucket === undefined ? 0 : Math.max(0, (1 - leftIn(bucket, rate, now)) * rate.backMs);

function take(bucket: Bucket, rate: Rate, now: number): void {
  bucket.left = leftIn(bucket, rate, now) - 1;
  bucket.at = now;
}

/** The newest last; above the limit the oldest goes. */
function remember<T>(map: Map<string, T>, { key, value, max }: { key: string; value: T; max: number }): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

const nameOf = (network: string, digest: Buffer): string => `${network} ${digest.toString('base64')}`;

/** An address, or what one subscriber of IPv6 is given: 64 bits of it. */
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
 * Where a request comes from. Only a proxy in a network of ours is believed, and of what it says the last address that is none of
 * ours: what stands before that anybody can have written.
 */
function addressOf({ ip, headers }: FastifyRequest): string {
  const peer = plainAddress(ip);
  if (!isOurs(peer)) return peer;
  const said = String(headers['x-forwarded-for'] ?? '').split(',');
  const named = said.map((one) => plainAddress(one.trim())).filter((one) => isIP(one) !== 0);
  return named.findLast((one) => !isOurs(one)) ?? named.at(-1) ?? peer;
}

const plainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/u, '');

/** Where a proxy of this installation may stand. */
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
  return problem(
    'too_many_requests',
    `too many wrong keys were sent from this address; wait ${seconds} s and check the key`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  );
}

import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { problem } from './errors.ts';

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
  const peer = plain(ip);
  if (!isOurs(peer)) return peer;
  const said = String(headers['x-forwarded-for'] ?? '').split(',');
  const named = said.map((one) => plain(one.trim())).filter((one) => isIP(one) !== 0);
  return named.findLast((one) => !isOurs(one)) ?? named.at(-1) ?? peer;
}

const plain = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/u, '');

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

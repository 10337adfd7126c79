import { BlockList, isIP, isIPv6 } from 'node:net';
import { EngineError } from '@slowwave/engine/storing';

/** What URLs that callers name may lead to. */
export interface UrlPolicy {
  /** The URL in its normal form; throws where it leads nowhere it may. Asks no name server. */
  check(text: string): URL;
  /** Whether a URL may name this host, an address or a name. Asks no name server: where a name leads is looked at later. */
  mayName(host: string): boolean;
  /** Whether a connection to this address may be opened for a URL of this host. */
  mayConnect(host: string, address: string): boolean;
}

/** Longer ones serve nobody. */
const URL_CHARACTERS_MAX = 2_048;

/**
 * The public internet over https. What the operator lists (addresses, ranges, names of hosts) may be private, and may be
 * spoken to over plain http.
 */
export function urlPolicy(allowed: readonly string[]): UrlPolicy {
  const listed: Listed = {
    ranges: rangesOf(allowed.filter(isRange)),
    names: new Set(allowed.filter((one) => !isRange(one)).map((name) => name.toLowerCase())),
  };
  return {
    check: (text) => checked(text, listed),
    mayName: (host) => mayName(host, listed),
    mayConnect: (host, address) => isPublicAddress(address) || isListed(host, address, listed),
  };
}

interface Listed {
  readonly ranges: BlockList;
  readonly names: ReadonlySet<string>;
}

function checked(text: string, listed: Listed): URL {
  const url = text.length <= URL_CHARACTERS_MAX ? URL.parse(text) : null;
  if (url === null) throw refused(`expected a URL of at most ${URL_CHARACTERS_MAX} characters, got something else`);
  const host = hostOf(url);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refused(`expected a URL that begins with https://, got ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw refused('expected a URL without user and password, got one with credentials; use a secret instead');
  }
  if (!mayName(host, listed)) throw privateAddress(host);
  if (url.protocol === 'http:' && !isListed(host, host, listed)) {
    throw refused(
      `expected https://, got http://${url.host}; http is only allowed for hosts in SLOWWAVE_ALLOW_PRIVATE_URLS`,
    );
  }
  return url;
}

/** The host as it is connected to: IPv6 without brackets, a name without the dot of the root. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const mayName = (host: string, listed: Listed): boolean =>
  isListed(host, host, listed) || (isIP(host) === 0 ? isPublicName(host) : isPublicAddress(host));

function isListed(host: string, address: string, { ranges, names }: Listed): boolean {
  if (names.has(host.toLowerCase())) return true;
  const family = isIP(address);
  return family !== 0 && ranges.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Says the host that was asked for, not the address behind it: that would show a caller the inside. */
export const privateAddress = (host: string): EngineError =>
  refused(
    `expected a host on the public internet, got ${host}; the operator can allow it in ` +
      'SLOWWAVE_ALLOW_PRIVATE_URLS',
  );

const refused = (message: string): EngineError =>
  new EngineError(`the URL is refused: ${message}`, { code: 'unsupported_content', retryable: false });

/** Networks that are not the public internet: who may name a URL must not reach into them through this process. */
const PRIVATE_IPV4 = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by the customers of a carrier
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and the metadata of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks of networks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
];

/** Of IPv6 only this is given out; everything else is loopback, local, multicast, mapped or reserved. */
const PUBLIC_IPV6 = ['2000::/3'];

/** Inside 2000::/3, and yet not public, or a way to an IPv4 address that is hidden in it. */
const PRIVATE_IPV6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 hides an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

/** An address, or a range of them: 10.0.0.7, 10.0.0.0/8, fd00::/8. */
type AddressRange = string;

/** Whether anybody on the internet could reach the address too. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false; // a zone means link-local
  return PUBLIC.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

/** What stands at the end of names that only mean something inside a network: nobody on the internet is called so. */
const INNER_ENDS = [
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'private', 'mail'],
  ...['arpa', 'svc', 'cluster', 'default', 'consul', 'docker', 'test', 'invalid'],
];

/** Whether a name may be one of the public internet. Without a dot it is one of a network; what it leads to is asked elsewhere. */
function isPublicName(host: string): boolean {
  const last = host.toLowerCase().split('.').at(-1) ?? '';
  return host.includes('.') && TOP_LEVEL.test(last) && !INNER_ENDS.includes(last);
}

/** Letters, or a name in another script as it travels. */
const TOP_LEVEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/u;

/** A list to look addresses up in. An IPv4 range holds the IPv6 forms of its addresses too (::ffff:10.0.0.7). */
function rangesOf(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? FULL_BITS[family] : Number(bits), family);
  }
  return list;
}

const FULL_BITS = { ipv4: 32, ipv6: 128 } as const;

/** Whether it is an address or a range of them, as opposed to a name. */
export function isRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

const NOT_PUBLIC = rangesOf([...PRIVATE_IPV4, ...PRIVATE_IPV6]);
const PUBLIC = rangesOf(PUBLIC_IPV6);

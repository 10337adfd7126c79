import { type BlockList, isIP } from 'node:net';
import { EngineError } from '@slowwave/engine';
import { isPublicAddress, isPublicName, isRange, rangesOf } from './address.ts';

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
    throw refused('expected a URL without a user or password, got one with them; use a secret instead');
  }
  if (!mayName(host, listed)) throw privateAddress(host);
  if (url.protocol === 'http:' && !isListed(host, host, listed)) {
    throw refused(`expected https://, got http://${url.host}; only hosts in SLOWWAVE_ALLOW_PRIVATE_URLS do without`);
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

/** Says the host that was asked for, not the address behind it: that would tell a caller about the inside. */
export const privateAddress = (host: string): EngineError =>
  refused(
    `expected a host on the public internet, got ${host}, which is not; the operator can list it in ` +
      'SLOWWAVE_ALLOW_PRIVATE_URLS',
  );

const refused = (message: string): EngineError =>
  new EngineError(`the URL is refused: ${message}`, { code: 'unsupported_content', retryable: false });

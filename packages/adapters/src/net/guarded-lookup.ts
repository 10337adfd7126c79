import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { privateAddress, type UrlPolicy } from './url-policy.ts';

/** Finds all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** As every other connection of this machine does. */
export const asSystem: Resolve = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, verbatim: true }, (error, addresses) =>
      error === null ? resolve(addresses) : reject(error),
    );
  });

/**
 * What a socket asks for the address it then connects to: a name that leads to a private address leads nowhere. The check
 * is of the very answer that is used, so a name that means something else a moment later gains nothing. Of several
 * addresses one that is refused is enough to refuse: nobody honest publishes such a mixture.
 */
export function guardedLookup(policy: UrlPolicy, resolve: Resolve = asSystem): LookupFunction {
  return (host, options, done) => {
    const find = async (): Promise<void> => {
      const found = await resolve(host);
      if (found.length === 0) throw new Error(`the name ${host} has no address`);
      if (!found.every(({ address }) => policy.mayConnect(host, address))) throw privateAddress(host);
      answer(found);
    };
    const answer = (found: readonly LookupAddress[]): void => {
      const [first] = found;
      if (options.all === true) done(null, [...found]);
      else done(null, first?.address ?? '', first?.family);
    };
    find().catch((error: unknown) => done(error as NodeJS.ErrnoException, ''));
  };
}

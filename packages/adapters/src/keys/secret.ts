import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 bits: nobody finds them by trying. */
const RANDOM_BYTES = 32;

/** The longest id of a key, with room. */
const FORM = /^sw_(key_[0-9a-z]{1,40})_[\w-]{43}$/;

/** What is given to a caller once, and what is kept of it. */
export interface NewSecret {
  readonly secret: string;
  readonly hash: string;
}

/** A secret for a key. It names the key, so that the key is found without comparing it with all of them. */
export function newSecret(id: string): NewSecret {
  const secret = `sw_${id}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  return { secret, hash: digestOf(secret).toString('hex') };
}

/** The id of the key a text may be a secret of; null: of none. */
export const keyIdIn = (text: string): string | null => FORM.exec(text)?.[1] ?? null;

/**
 * A fast digest is enough. Slow ones are for secrets that people choose and that can be guessed; here there are 256
 * random bits to guess, whatever a guess costs, and every request would pay for it.
 */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** In the same time, whatever the digests are. */
export function isSame(digest: Buffer, hash: string): boolean {
  const known = Buffer.from(hash, 'hex');
  return known.length === digest.length && timingSafeEqual(digest, known);
}

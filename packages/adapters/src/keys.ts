import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ApiKey, KeyStore, Ledger, Link, Log, Millis, Tools } from '@slowwave/engine';

/** What is read is believed so long: a revocation is effective everywhere within it. */
const BELIEVED_MS = 3_000;

/** Keys that are kept at hand, about 5 MB; with more in use some are read again. */
const KEPT_MAX = 10_000;

/** Of the secret that sessions are sealed with. */
const SEAL_BYTES = 32;

/** How exactly the last use of a key is known: each note of it is a write. */
const USE_NOTED_MS = 3_600_000;

interface KeyCheckOptions {
  readonly ledger: Pick<Ledger, 'keys' | 'links'>;
  readonly tools: Pick<Tools, 'now'>;
  readonly log: Log;
  /** A clock that nobody sets, in ms: what is at hand must not stay there because the time was changed. */
  readonly monotonic?: () => Millis;
}

/** Looks up what keys and links stand for in the ledger. What it knows already costs one digest. */
export function keyCheck({ ledger, tools, log, monotonic = () => performance.now() }: KeyCheckOptions) {
  const { keys, links } = ledger;
  const known = atHand((id) => keys.find(id), { monotonic });
  // One that is not open yet is read each time: its token counts from the moment on at which it is opened.
  const opened = atHand((id) => links.find(id), { monotonic, isKept: ({ openedAt }: Link) => openedAt !== null });
  const noteUse = (key: ApiKey, now: Millis): void => {
    if (key.lastUsedAt !== null && now - key.lastUsedAt < USE_NOTED_MS) return;
    known.put({ ...key, lastUsedAt: now });
    keys.used(key.id, now).catch((err: unknown) => log.warn({ err, key: key.id }, 'could not record the use of a key'));
  };
  return {
    check: async (text: string) => {
      const [, id, kind] = FORM.exec(text) ?? [];
      if (id === undefined) return refused('unknown');
      if (kind === 'lnk') {
        const digest = digestOf(text);
        const checked = checkLink(await opened.get(id), digest, tools.now());
        // It may have been renewed a moment ago, elsewhere.
        const isOver = checked.kind === 'refused' && checked.reason === 'expired';
        return isOver ? checkLink(await opened.read(id), digest, tools.now()) : checked;
      }
      const key = await known.get(id);
      if (key === null) return refused('unknown');
      const now = tools.now();
      const reason = refusalOf(key, digestOf(text), now);
      if (reason !== null) return refused(reason, key);
      noteUse(key, now);
      return { kind: 'taken' as const, principal: principalOf(key) };
    },
    any: anyOf(keys, monotonic),
    seal: () => keys.seal(randomBytes(SEAL_BYTES).toString('base64url')),
  };
}

type Reason = 'unknown' | 'replaced' | 'expired' | 'revoked' | 'opened';

/** The key is named only where its secret was sent. */
const refused = (reason: Reason, key?: Pick<ApiKey, 'id' | 'tenant'>) => ({
  kind: 'refused' as const,
  reason,
  ...(key !== undefined && reason !== 'unknown' && { key: { id: key.id, tenant: key.tenant } }),
});

/** Only who has the secret learns what became of the key. */
function refusalOf({ hash, previous, revokedAt, expiresAt }: ApiKey, digest: Buffer, now: Millis): Reason | null {
  if (!isSame(digest, hash)) {
    if (previous === null || !isSame(digest, previous.hash)) return 'unknown';
    if (now >= previous.until) return 'replaced';
  }
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && now >= expiresAt ? 'expired' : null;
}

/** Its secret does nothing but open it; what was given for the secret then counts like a key of the user. */
function checkLink(link: Link | null, digest: Buffer, now: Millis) {
  if (link === null) return refused('unknown');
  const { id: keyId, tenant, userId, openedAt, token, hash, expiresAt } = link;
  const subject = { keyId, tenant, userId, appId: null, came: { by: 'link', at: openedAt } as const };
  if (token !== null && isSame(digest, token.hash)) {
    if (now >= token.until) return refused('expired', link);
    return { kind: 'taken' as const, principal: { ...subject, scopes: ['subject'] as const } };
  }
  if (!isSame(digest, hash)) return refused('unknown');
  if (openedAt !== null) return refused('opened', link);
  if (now >= expiresAt) return refused('expired', link);
  return { kind: 'taken' as const, principal: { ...subject, scopes: [] } };
}

const principalOf = ({ id, tenant, scopes, userId, appId }: ApiKey) => ({ keyId: id, tenant, scopes, userId, appId });

interface Kept<Key> {
  readonly monotonic: () => Millis;
  /** Which of them may be believed for a moment; omitted: all. */
  isKept?(key: Key): boolean;
}

/** Keys as the ledger has them, or had a moment ago. Ids it does not know are not kept: anybody can send those. */
function atHand<Key extends { readonly id: string }>(
  find: (id: string) => Promise<Key | null>,
  { monotonic, isKept = () => true }: Kept<Key>,
) {
  const kept = new Map<string, { readonly key: Key; readonly readAt: Millis }>();
  const keep = (key: Key, readAt: Millis): void => {
    kept.delete(key.id);
    kept.set(key.id, { key, readAt });
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  };
  const read = async (id: string): Promise<Key | null> => {
    // Before it is asked for: what changes while the answer is on its way counts from then on.
    const askedAt = monotonic();
    const key = await find(id);
    if (key !== null && isKept(key)) keep(key, askedAt);
    else kept.delete(id);
    return key;
  };
  return {
    read,
    get: async (id: string): Promise<Key | null> => {
      const found = kept.get(id);
      return found !== undefined && monotonic() - found.readAt < BELIEVED_MS ? found.key : read(id);
    },
    /** Changes what is at hand, and not how long it is believed. */
    put: (key: Key): void => {
      const found = kept.get(key.id);
      if (found !== undefined) kept.set(key.id, { ...found, key });
    },
  };
}

/** Whether there has ever been a key. Once seen it stays so, whatever becomes of the ledger. */
function anyOf(keys: KeyStore, monotonic: () => Millis): () => Promise<boolean> {
  let seen = false;
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = monotonic();
    if (seen || now - askedAt < BELIEVED_MS) return seen;
    seen = await keys.any();
    askedAt = now;
    return seen;
  };
}

/** 256 bits: nobody finds them by trying. */
const RANDOM_BYTES = 32;

/** The longest id of a key or link, with room. */
const FORM = /^sw_((key|lnk)_[0-9a-z]{1,40})_[\w-]{43}$/;

/** What is given to a caller once, and what is kept of it. */
interface NewSecret {
  readonly secret: string;
  readonly hash: string;
}

/** A secret for a key or link. It names it, so that it is found without comparing it with all of them. */
export function newSecret(id: string): NewSecret {
  const secret = `sw_${id}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
  return { secret, hash: digestOf(secret).toString('hex') };
}

/**
 * A fast digest is enough. Slow ones are for secrets that people choose and that can be guessed; here there are 256
 * random bits to guess, whatever a guess costs, and every request would pay for it.
 */
const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** In the same time, whatever the digests are. */
function isSame(digest: Buffer, hash: string): boolean {
  const known = Buffer.from(hash, 'hex');
  return known.length === digest.length && timingSafeEqual(digest, known);
}

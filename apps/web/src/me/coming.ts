import { createSlowwave, type Slowwave, SlowwaveError } from '@slowwave/sdk';
import { createContext, use, useSyncExternalStore } from 'react';
import { api, may, queries, type Session } from '../api.ts';

/** Somebody whose page it is, with their way to the server. */
export interface Own {
  readonly api: Slowwave;
  readonly userId: string;
  readonly mayChange: boolean;
}

/**
 * How somebody came to the page.
 *
 *   coming    the link is being opened, or it is asked whether somebody is signed in
 *   here      their memories are shown
 *   away      nobody is known, or not any more; `why` says what to do
 *   erased    they have just erased everything
 */
export type Coming =
  | { readonly kind: 'coming' | 'erased' }
  | { readonly kind: 'here'; readonly own: Own }
  | { readonly kind: 'away'; readonly why: Why };

/** What kept somebody out. */
export type Why = 'no_link' | 'used' | 'ended' | 'not_one_person' | 'unreachable';

let now: Coming = { kind: 'coming' };
const watching = new Set<() => void>();

function become(next: Coming): void {
  now = next;
  // Whatever was shown belonged to whoever was here.
  if (next.kind !== 'here') queries.clear();
  for (const tell of watching) tell();
}

export const useComing = (): Coming =>
  useSyncExternalStore(
    (tell) => {
      watching.add(tell);
      return () => watching.delete(tell);
    },
    () => now,
  );

export const OwnContext = createContext<Own | null>(null);

/** Whose page it is. Only where their memories are shown. */
export function useOwn(): Own {
  const own = use(OwnContext);
  if (own === null) throw new Error('expected somebody whose page it is');
  return own;
}

export const leaveErased = (): void => become({ kind: 'erased' });

/** Opens the link in the address; without one, whoever is signed in sees the page. A new link later takes the place of the old. */
export function begin(): void {
  void (openLink() ?? askWhoIsSignedIn());
  addEventListener('hashchange', () => void openLink());
}

const LINK = /^#(sw_lnk_[\w-]+)$/;

/** null: there is no link in the address. */
function openLink(): Promise<void> | null {
  const [, link] = LINK.exec(location.hash) ?? [];
  if (link === undefined) return null;
  // It is good for nothing from now on, and should stand in no history.
  history.replaceState(null, '', location.pathname);
  become({ kind: 'coming' });
  return exchange(link);
}

async function exchange(link: string): Promise<void> {
  try {
    const { token, ...session } = await withKey(link).send('POST /v1/session', {});
    const own = ownOf(withKey(token, endedBy(token)), session);
    if (own === null) return become({ kind: 'away', why: 'not_one_person' });
    keepOpen(own.api, token);
    become({ kind: 'here', own });
  } catch (error) {
    const isUsed = error instanceof SlowwaveError && error.code === 'link_opened';
    become({ kind: 'away', why: isUsed ? 'used' : whyNot(error, 'ended') });
  }
}

/** In a frame nobody is asked for: whoever is signed in here did not ask another site to show their memories. */
async function askWhoIsSignedIn(): Promise<void> {
  if (window.self !== window.top) return become({ kind: 'away', why: 'no_link' });
  try {
    const own = ownOf(api, await api.send('GET /v1/session', {}));
    become(own === null ? { kind: 'away', why: 'not_one_person' } : { kind: 'here', own });
  } catch (error) {
    become({ kind: 'away', why: whyNot(error, 'no_link') });
  }
}

const whyNot = (error: unknown, refused: Why): Why =>
  error instanceof SlowwaveError && error.status === 401 ? refused : 'unreachable';

/** null: the key is not for one person, and this page would be somebody else's. */
function ownOf(way: Slowwave, who: Session): Own | null {
  const { user_id: userId, app_id: appId } = who;
  const isOwn = who.scopes.includes('subject');
  if (userId === null || appId !== null || !(isOwn || may(who, 'search'))) return null;
  return { api: way, userId, mayChange: isOwn || may(who, 'manage') };
}

/** The token of the link that was opened last; what an older one is told is of no interest any more. */
let current: string | null = null;

/** Ends the page once the server no longer knows its token. */
const endedBy =
  (token: string) =>
  (status: number): void => {
    if (status === 401 && current === token) become({ kind: 'away', why: 'ended' });
  };

/** No cookie goes along: the page acts for whoever opened the link, and for nobody who is signed in besides. */
const withKey = (key: string, answered: (status: number) => void = () => {}): Slowwave =>
  createSlowwave({
    url: location.origin,
    apiKey: key,
    retries: 1,
    fetch: async (input, init) => {
      const answer = await fetch(input, { ...init, credentials: 'omit' });
      answered(answer.status);
      return answer;
    },
  });

/** Well before a token expires, which is after a quarter of an hour. */
const RENEWED_EVERY_MS = 5 * 60_000;

/** Renews the token while somebody looks at the page. */
function keepOpen(way: Slowwave, token: string): void {
  current = token;
  const timer = setInterval(() => {
    if (current !== token || now.kind !== 'here') return clearInterval(timer);
    // A failure shows with the next thing that somebody does.
    if (document.visibilityState === 'visible') way.send('POST /v1/session/renew', {}).catch(() => {});
  }, RENEWED_EVERY_MS);
}

// How people are told of errors and times.

/** What the codes of the server mean to somebody who knows nothing of it. */
const MEANINGS: Readonly<Record<string, string>> = {
  sign_in_again:
    'Erasing everything cannot be undone, so it only works in the first 15 minutes after you open this page. ' +
    'Please open it again with a new link, or sign in again, and then erase.',
  version_conflict: 'This has changed in the meantime. Close this dialog, read it again, and then decide.',
  immutable_memory: 'This cannot be changed here. You can still forget it.',
  unsupported_content: 'This cannot be saved, because it contains personal data that is not stored here.',
  unauthorized: 'This page has been open for too long. Please open it again with a new link, or sign in again.',
  conflict: 'This cannot be added now. Remove a line first, or resume memory if you have paused it.',
  not_found: 'This is no longer remembered.',
  too_many_requests: 'Too many requests. Please wait a moment and try again.',
};

const OTHERWISE = 'Something went wrong, and nothing was changed. Please try again in a moment.';

/** The same call; what goes wrong is told in words for people. */
export async function plainly<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const code = error instanceof SlowwaveError ? error.code : '';
    throw new Error(MEANINGS[code] ?? OTHERWISE, { cause: error });
  }
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' });
const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

export const dayOf = (iso: string): string => DAY.format(new Date(iso));
export const timeOf = (iso: string): string => TIME.format(new Date(iso));

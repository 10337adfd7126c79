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

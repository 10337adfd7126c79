import { createSlowwave, type Operations, SlowwaveError } from '@slowwave/sdk';
import { QueryClient, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { live } from './ui/reading.tsx';

/**
 * The only way to the server. The cookie of the session goes with each call, and the first header shows that a page of ours made it. Where
 * there are cells and one does not answer, the others are shown without it: each page says so to operators.
 */
export const api = createSlowwave({
  url: location.origin,
  headers: { 'x-slowwave-console': '1', 'x-slowwave-partial': 'true' },
  retries: 1,
});

export type Session = Operations['GET /v1/session']['answer'];

/** Shown as long as it is not older than this; then it is read again whenever somebody looks. */
const FRESH_MS = 2_000;

export const queries = new QueryClient({
  // The client of the API retries by itself.
  defaultOptions: { queries: { staleTime: FRESH_MS, retry: false }, mutations: { retry: false } },
});

const SESSION = ['session'] as const;

/** Who looks at the page; asked again when somebody comes back to it, because keys end. */
export const useSession = () =>
  useQuery({ queryKey: SESSION, queryFn: ({ signal }) => api.send('GET /v1/session', {}, { signal }) });

/** What a key needs for something: a scope, or to be the operator's. */
export type Right = Session['scopes'][number] | 'operator';

/** What a key may not do is not offered. */
export const may = ({ scopes, operator }: Session, right: Right): boolean =>
  right === 'operator' ? operator : scopes.includes(right) || scopes.includes('admin');

/** Whether it changes memories by their ids: those of its user, if it is for one. What an app knows belongs to others too. */
export const mayCorrect = (who: Session): boolean => may(who, 'manage') && isOfAllApps(who);

/** Whether there is nothing for it in the console, but on the page of its user. */
export const isSubject = ({ scopes }: Session): boolean => scopes.every((scope) => scope === 'subject');

/** Whether it manages a whole tenant, and not only what is of one user or app. */
export const mayChange = (who: Session): boolean => may(who, 'manage') && who.user_id === null && isOfAllApps(who);

/** Whether it sees what was said in all apps: much of that cannot be told apart by app, and keys for one app do not see it. */
export const isOfAllApps = ({ app_id: app }: Session): boolean => app === null;

export const isSignedOut = (error: unknown): boolean => error instanceof SlowwaveError && error.status === 401;

/** Where somebody signs in, and comes back from. */
export const signInAddress = (): string =>
  `/login?${new URLSearchParams({ next: `${location.pathname}${location.search}` })}`;

/** The cells as a router sees them, for operators. An installation without a router has none. */
export const useCells = (who: Session, everyMs: number) =>
  useQuery({
    queryKey: ['cells'],
    queryFn: ({ signal }) => api.send('GET /v1/cells', {}, { signal }),
    enabled: may(who, 'operator'),
    ...live(everyMs),
  });

/** Given up for good: nobody waits for its answer. */
export const isGone = ({ state }: Pick<Operations['GET /v1/cells']['answer']['cells'][number], 'state'>): boolean =>
  state === 'lost' || state === 'left_behind';

export const SessionContext = createContext<Session | null>(null);

/** Who looks at the page. Only inside the frame, which is not shown before that is known. */
export function useWho(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('expected to be inside the frame of the console');
  return session;
}

/** People who look are not chats that are told: where the key may ask for it, what they look at leaves no receipt. */
export const useLooking = (): { readonly receipt?: false } => (may(useWho(), 'manage') ? { receipt: false } : {});

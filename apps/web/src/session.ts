import { createContext, use } from 'react';
import { may, type Session } from './api.ts';

export const SessionContext = createContext<Session | null>(null);

/** Who looks at the page. Only inside the frame, which is not shown before that is known. */
export function useWho(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('expected to be inside the frame of the console');
  return session;
}

/** People who look are not chats that are told: where the key may ask for it, what they look at leaves no receipt. */
export const useLooking = (): { readonly receipt?: false } => (may(useWho(), 'manage') ? { receipt: false } : {});

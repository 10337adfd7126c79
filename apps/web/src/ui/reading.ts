import { useEffect, useState } from 'react';

/** As fast as people type a word they know. */
const PAUSE_MS = 200;

/** A value once it has not changed for a moment: what somebody types, or drags, is asked for when they pause. */
export function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}

/** However long something fails, or nobody looks, it is read again after this. */
const SLOWEST_MS = 60_000;

interface Watched {
  readonly state: { readonly dataUpdatedAt: number; readonly error: Error | null };
}

/**
 * Reads a query again and again: as often as said while somebody looks and the server answers, once a minute while nobody
 * looks. While it fails, each pause is as long as it has been failing: they double.
 */
export const live = (everyMs: number) => ({
  refetchIntervalInBackground: true,
  refetchInterval: ({ state: { dataUpdatedAt, error } }: Watched): number => {
    if (document.hidden) return SLOWEST_MS;
    return error === null ? everyMs : Math.min(SLOWEST_MS, Math.max(everyMs, Date.now() - dataUpdatedAt));
  },
});

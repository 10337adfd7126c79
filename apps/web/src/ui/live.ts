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

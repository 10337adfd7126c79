import { SlowwaveError } from '@slowwave/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';

interface Asked<T> {
  readonly of: UseQueryResult<T>;
  /** What is said until then. */
  readonly meanwhile?: string;
  readonly children: (answer: T) => ReactNode;
}

/** What a query answered; until then that it is on its way. What went wrong stands above what was known before, unless that is gone. */
export function Answer<T>({ of: { data, error, refetch }, meanwhile, children }: Asked<T>) {
  const isGone = error instanceof SlowwaveError && error.status === 404;
  return (
    <>
      {error !== null && <Problem error={error} retry={refetch} />}
      {data !== undefined && !isGone && children(data)}
      {data === undefined && error === null && <Loading what={meanwhile} />}
    </>
  );
}

/** Shown while something is on its way; screen readers are told. */
export const Loading = ({ what = 'Loading …' }: { readonly what?: string | undefined }) => (
  <p className="quiet" role="status">
    {what}
  </p>
);

/** What went wrong and what to do, in the words of the server. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => unknown }) {
  const requestId = error instanceof SlowwaveError ? error.requestId : null;
  return (
    <div className="problem" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {error instanceof SlowwaveError && error.errors.length > 0 && (
        <ul>
          {error.errors.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">
        {retry !== undefined && (
          <button type="button" onClick={() => void retry()}>
            Try again
          </button>
        )}
        {requestId !== null && <> Request {requestId}</>}
      </p>
    </div>
  );
}

/** Nothing is there yet: why, and how to change that. */
export const Empty = ({ children }: { readonly children: ReactNode }) => <div className="empty">{children}</div>;

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

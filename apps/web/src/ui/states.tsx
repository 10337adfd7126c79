import { SlowwaveError } from '@slowwave/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

interface Asked<T> {
  readonly of: UseQueryResult<T>;
  readonly children: (answer: T) => ReactNode;
}

/** What a query answered; until then that it is on its way. What went wrong stands above what was known before, unless that is gone. */
export function Answer<T>({ of: { data, error, refetch }, children }: Asked<T>) {
  const isGone = error instanceof SlowwaveError && error.status === 404;
  return (
    <>
      {error !== null && <Problem error={error} retry={refetch} />}
      {data !== undefined && !isGone && children(data)}
      {data === undefined && error === null && <Loading />}
    </>
  );
}

/** Shown while something is on its way; screen readers are told. */
export const Loading = ({ what = 'Loading …' }: { readonly what?: string }) => (
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

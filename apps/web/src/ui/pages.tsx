import { type QueryKey, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { live } from './reading.ts';
import { Loading, Problem } from './states.tsx';

interface PageOf<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}

interface List<T> {
  readonly queryKey: QueryKey;
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<PageOf<T>>;
  /** For what changes while somebody looks. */
  readonly everyMs?: number;
}

interface Rows<T> {
  /** undefined: nothing was answered yet. */
  readonly rows: readonly T[] | undefined;
  readonly query: Pick<
    UseInfiniteQueryResult,
    'error' | 'refetch' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
  >;
}

/** A list of the API, page after page. */
export function usePages<T>({ queryKey, read, everyMs }: List<T>): Rows<T> {
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => read(pageParam, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    ...(everyMs !== undefined && live(everyMs)),
  });
  return { rows: query.data?.pages.flatMap(({ results }) => results), query };
}

/** What was read of a list, and the way to more of it. */
export function Pages<T>({
  of,
  children,
}: {
  readonly of: Rows<T>;
  readonly children: (rows: readonly T[]) => ReactNode;
}) {
  const { rows, query } = of;
  return (
    <>
      {query.error !== null && <Problem error={query.error} retry={query.refetch} />}
      {rows === undefined ? query.error === null && <Loading /> : children(rows)}
      {query.hasNextPage && (
        <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

import type { Memory } from '@slowwave/sdk';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api } from '../../api.ts';
import { type Owner, useIds } from '../../owner.ts';

/** The most that one answer holds. */
const PAGE = 200;
/** So many are read by themselves, page after page; of more than that somebody asks for the rest. */
const AT_ONCE = 5_000;

interface Memories {
  /** Those that have arrived, newest first; null: none has yet. */
  readonly memories: readonly Memory[] | null;
  readonly error: Error | null;
  readonly retry: () => unknown;
  /** Whether more of them are on their way. */
  readonly isComing: boolean;
  /** Reads on, where that needs somebody; null: all are here or come by themselves. */
  readonly readOn: (() => unknown) | null;
}

/** What is remembered of an owner at a moment; null: now. */
export function useMemories(owner: Owner, asOf: string | null): Memories {
  const ids = useIds(owner);
  const pages = useInfiniteQuery({
    queryKey: ['owner', owner.kind, owner.id, 'memories', asOf],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.memories.list({ ...ids, as_of: asOf ?? undefined, limit: PAGE, cursor }, { signal }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Many pages: read again after a change, not whenever somebody looks.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const memories = useMemo(() => pages.data?.pages.flatMap(({ results }) => results) ?? null, [pages.data]);
  const isMore = pages.hasNextPage && !pages.isPlaceholderData && pages.error === null;
  const byItself = isMore && (memories?.length ?? 0) < AT_ONCE;
  const { fetchNextPage, isFetching } = pages;
  useEffect(() => {
    if (byItself && !isFetching) void fetchNextPage();
  }, [byItself, isFetching, fetchNextPage]);
  return {
    memories,
    error: pages.error,
    retry: pages.refetch,
    isComing: byItself || isFetching,
    readOn: isMore && !byItself && !isFetching ? fetchNextPage : null,
  };
}

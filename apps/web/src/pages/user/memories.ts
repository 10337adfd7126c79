import type { Memory, MemoryList } from '@slowwave/sdk';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api } from '../../api.ts';
import { type Owner, useIds } from '../../owner.ts';

/** The most that one answer holds: shown as soon as it is there. */
const FIRST = 200;
/** So many more are read by themselves and shown together: to draw the page for each answer would take longer than to read them. */
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
      upTo(cursor === undefined ? FIRST : AT_ONCE, cursor, (from) =>
        api.memories.list({ ...ids, as_of: asOf ?? undefined, limit: FIRST, cursor: from }, { signal }),
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Many pages: read again after a change, not whenever somebody looks.
    staleTime: Number.POSITIVE_INFINITY,
    // Thousands are not compared with those of before: it would take longer than to show them.
    structuralSharing: false,
  });
  const memories = useMemo(() => pages.data?.pages.flatMap(({ results }) => results) ?? null, [pages.data]);
  const isMore = pages.hasNextPage && !pages.isPlaceholderData && pages.error === null;
  const byItself = isMore && pages.data?.pages.length === 1;
  const { fetchNextPage, isFetching } = pages;
  useEffect(() => {
    // Several parts of the page ask for them: the first is enough.
    if (byItself && !isFetching) void fetchNextPage({ cancelRefetch: false });
  }, [byItself, isFetching, fetchNextPage]);
  return {
    memories,
    error: pages.error,
    retry: pages.refetch,
    isComing: byItself || isFetching,
    readOn: isMore && !byItself && !isFetching ? fetchNextPage : null,
  };
}

/** Answers one after the other, as one. */
async function upTo(
  most: number,
  from: string | undefined,
  read: (cursor: string | undefined) => Promise<MemoryList>,
): Promise<MemoryList> {
  const results: Memory[] = [];
  for (let cursor = from; ; ) {
    const page = await read(cursor);
    results.push(...page.results);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined || results.length >= most) return { results, next_cursor: page.next_cursor };
  }
}

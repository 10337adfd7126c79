import {
  type keepPreviousData,
  type QueryKey,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Empty, Loading, live, Problem } from './reading.tsx';

interface PageOf {
  readonly results: readonly unknown[];
  readonly next_cursor: string | null;
}

interface List<Page extends PageOf> {
  readonly queryKey: QueryKey;
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  /** For what changes while somebody looks. */
  readonly everyMs?: number;
  /** What is shown until another list is there. */
  readonly placeholderData?: typeof keepPreviousData;
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
export function usePages<Page extends PageOf>({ queryKey, read, everyMs, placeholderData }: List<Page>) {
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => read(pageParam, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    ...(everyMs !== undefined && live(everyMs)),
    ...(placeholderData !== undefined && { placeholderData }),
  });
  const pages = query.data?.pages;
  return { first: pages?.[0], rows: pages?.flatMap(({ results }): Page['results'] => results), query } as Rows<
    Page['results'][number]
  > & { readonly first: Page | undefined };
}

interface Paged<T> {
  readonly of: Rows<T>;
  /** What is said where there is nothing. */
  readonly none?: ReactNode;
  readonly children: (rows: readonly T[]) => ReactNode;
}

/** What was read of a list, and the way to more of it. */
export function Pages<T>({ of: { rows, query }, none, children }: Paged<T>) {
  return (
    <>
      {query.error !== null && <Problem error={query.error} retry={query.refetch} />}
      {rows === undefined && query.error === null && <Loading />}
      {rows !== undefined && (rows.length === 0 && none !== undefined ? <Empty>{none}</Empty> : children(rows))}
      {query.hasNextPage && (
        <button type="button" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

interface Content {
  /** What it holds, for those who reach it by keyboard. */
  readonly name: string;
  readonly card?: boolean;
  readonly children?: ReactNode;
}

/** What may be wider than the page. It scrolls by itself, with the arrow keys too. */
export const Wide = ({ name, card = false, children }: Content) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
  <section className={card ? 'scroll card' : 'scroll'} aria-label={name} tabIndex={0}>
    {children}
  </section>
);

/** Its head, what it shows of a row, and how: as what the row is called by, as a figure, or in another style of text. */
type Column<T> = readonly [
  head: ReactNode,
  cell: (row: T) => ReactNode,
  look?: 'name' | 'number' | 'quiet' | 'text' | 'nowrap',
];

interface Tabled<T> extends Content {
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** false: not shown. */
  readonly columns: readonly (Column<T> | false)[];
}

/** A table, below what is said of it. */
export function Table<T>({ name, card = false, children, rows, keyOf, columns }: Tabled<T>) {
  const shown = columns.filter((column) => column !== false);
  return (
    <Wide name={name} card={card}>
      {children}
      <table>
        <thead>
          <tr>
            {shown.map(([head, , look], at) =>
              head === '' ? (
                <td key={at} />
              ) : (
                <th key={at} className={look === 'number' ? look : undefined}>
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(([, cell, look], at) => {
                const Cell = look === 'name' ? 'th' : 'td';
                return (
                  <Cell key={at} className={look === 'name' ? undefined : look}>
                    {cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

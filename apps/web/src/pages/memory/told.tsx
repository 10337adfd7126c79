import { useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../api.ts';
import { Loading, Problem } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

const PAGE = 20;

const ROUTES = { search: 'search', context: 'context', recall: 'recall' } as const;

/** Which answers told it, the newest first, and what they led to. */
export function ToldTo({ id }: { readonly id: string }) {
  const receipts = useInfiniteQuery({
    queryKey: ['memory', id, 'receipts'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) => api.receipts.ofMemory(id, { limit: PAGE, cursor }, { signal }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const told = receipts.data?.pages.flatMap(({ results }) => results);
  const credit = receipts.data?.pages[0]?.credit ?? 0;
  return (
    <section className="card" aria-label="Used in answers">
      <h2>Used in answers</h2>
      {receipts.error !== null && <Problem error={receipts.error} retry={receipts.refetch} />}
      {told === undefined && receipts.error === null && <Loading />}
      {told?.length === 0 && <p className="quiet">No stored answer contains it.</p>}
      {credit !== 0 && <p>The outcomes of these answers were {credit > 0 ? 'mostly good' : 'mostly bad'}.</p>}
      <ul className="plain ruled">
        {told?.map(({ id: receipt, route, question, created_at: at, outcome, versions }) => (
          <li key={receipt}>
            <div className="row quiet">
              <Moment iso={at} /> {ROUTES[route]}, version {versions.join(', ')}
              {outcome !== null && <span className={`tag ${outcome}`}>{outcome}</span>}
            </div>
            {question === null ? <em className="quiet">No question, or it is not stored</em> : question}
          </li>
        ))}
      </ul>
      {receipts.hasNextPage && (
        <button type="button" disabled={receipts.isFetchingNextPage} onClick={() => void receipts.fetchNextPage()}>
          Show more
        </button>
      )}
    </section>
  );
}

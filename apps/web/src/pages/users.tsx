import { useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';

const PAGE = 100;

/** Everybody who has memories. */
export function Users() {
  const users = useInfiniteQuery({
    queryKey: ['users'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.send('GET /v1/users', { query: { limit: PAGE, cursor } }, { signal }),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  if (users.data === undefined)
    return users.error === null ? <Loading /> : <Problem error={users.error} retry={() => users.refetch()} />;
  const rows = users.data.pages.flatMap(({ results }) => results);
  return (
    <>
      <h1>Users</h1>
      {rows.length === 0 ? (
        <Empty>Nobody has memories yet. Post a conversation, and its user appears here.</Empty>
      ) : (
        <div className="scroll card">
          <table>
            <thead>
              <tr>
                <th>Kind</th>
                <th>Id</th>
                <th className="number">Memories</th>
                <th>Last change</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ kind, id, memories, updated_at: at }) => (
                <tr key={`${kind} ${id}`}>
                  <td className="quiet">{kind}</td>
                  <td>{id}</td>
                  <td className="number">{memories.toLocaleString('en')}</td>
                  <td>
                    <Moment iso={at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {users.hasNextPage && (
        <button type="button" disabled={users.isFetchingNextPage} onClick={() => void users.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

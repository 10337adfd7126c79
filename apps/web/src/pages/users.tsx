import type { User } from '@slowwave/sdk';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Link, Redirect, useLocation, useSearchParams } from 'wouter';
import { api, isOfAllApps } from '../api.ts';
import { pathOf } from '../owner.ts';
import { useWho } from '../session.ts';
import { useLater } from '../ui/reading.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { ErasureProgress } from './user/erasing.tsx';

const PAGE = 100;

/** Everybody who has memories, the last active first. A key for one user has its own page alone, one for an app lists nobody. */
export function Users() {
  const who = useWho();
  if (who.user_id !== null) return <Redirect to={pathOf({ kind: 'user', id: who.user_id })} replace />;
  return isOfAllApps(who) ? <Everybody /> : <ByName />;
}

/** Users of an app are found by their whole id. */
function ByName() {
  const [, go] = useLocation();
  const field = useId();
  const show = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get('id')).trim();
    if (id !== '') go(pathOf({ kind: 'user', id }));
  };
  return (
    <>
      <h1>Users</h1>
      <form className="card fields" onSubmit={show}>
        <label htmlFor={field}>User ID</label>
        <input id={field} name="id" autoComplete="off" spellCheck={false} required />
        <p className="quiet">
          Your key is bound to one app. It cannot list users, but shows what each user said in your app.
        </p>
        <button type="submit" className="main">
          Show
        </button>
      </form>
    </>
  );
}

function Everybody() {
  const [typed, setTyped] = useState('');
  const prefix = useLater(typed.trim());
  const [search] = useSearchParams();
  const erasure = search.get('erasure');
  return (
    <>
      <div className="row">
        <h1>Users</h1>
        <Tally />
      </div>
      {erasure !== null && <ErasureProgress id={erasure} />}
      <search className="card fields">
        <label htmlFor="prefix">Search by the beginning of an ID</label>
        <input
          id="prefix"
          type="search"
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </search>
      <Found prefix={prefix} />
    </>
  );
}

/** How many there are, and how much waits. */
function Tally() {
  const stats = useQuery({ queryKey: ['stats'], queryFn: ({ signal }) => api.stats({ signal }) });
  if (stats.data === undefined) return null;
  const { owners, batches } = stats.data;
  const waiting = batches.pending + batches.consolidating;
  return (
    <span className="quiet push">
      {owners.toLocaleString('en')} in total{waiting > 0 && `, ${waiting.toLocaleString('en')} batches waiting`}
    </span>
  );
}

function Found({ prefix }: { readonly prefix: string }) {
  const users = useInfiniteQuery({
    queryKey: ['users', prefix],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.users.list(
        { id_prefix: prefix === '' ? undefined : prefix, order: 'updated', limit: PAGE, cursor },
        { signal },
      ),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    placeholderData: keepPreviousData,
  });
  if (users.data === undefined)
    return users.error === null ? <Loading /> : <Problem error={users.error} retry={() => users.refetch()} />;
  const rows = users.data.pages.flatMap(({ results }) => results);
  if (rows.length === 0) return <Nobody prefix={prefix} />;
  return (
    <>
      <People rows={rows} />
      {users.hasNextPage && (
        <button type="button" disabled={users.isFetchingNextPage} onClick={() => void users.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

const Nobody = ({ prefix }: { readonly prefix: string }) => (
  <Empty>
    {prefix === '' ? (
      <>
        There are no users yet. Post a conversation, or try the <Link href="/playground">playground</Link>.
      </>
    ) : (
      <>No ID begins with “{prefix}”. IDs are case-sensitive.</>
    )}
  </Empty>
);

const People = ({ rows }: { readonly rows: readonly User[] }) => (
  <div className="scroll card">
    <table>
      <thead>
        <tr>
          <th>ID</th>
          <th>Kind</th>
          <th className="number">Memories</th>
          <th className="number">Waiting batches</th>
          <th>Last active</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((user) => (
          <tr key={`${user.kind} ${user.id}`}>
            <td className="text">
              <Link href={pathOf(user)}>{user.id}</Link>
            </td>
            <td className="quiet">{user.kind}</td>
            <td className="number">{user.memories.toLocaleString('en')}</td>
            <td className="number">
              {user.pending > 0 && <span className="tag wait">{user.pending.toLocaleString('en')}</span>}
            </td>
            <td>
              <Moment iso={user.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

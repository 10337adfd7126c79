import type { User } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Link, Redirect, useLocation, useSearchParams } from 'wouter';
import { api, isOfAllApps, useWho } from '../api.ts';
import { pathOf } from '../owner.tsx';
import { Moment, whole } from '../ui/figures.tsx';
import { Pages, Table, usePages } from '../ui/lists.tsx';
import { Answer, useLater } from '../ui/reading.tsx';

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
      {whole(owners)} in total{waiting > 0 && `, ${whole(waiting)} batches waiting`}
    </span>
  );
}

function Found({ prefix }: { readonly prefix: string }) {
  const users = usePages({
    queryKey: ['users', prefix],
    read: (cursor, signal) =>
      api.users.list(
        { id_prefix: prefix === '' ? undefined : prefix, order: 'updated', limit: PAGE, cursor },
        { signal },
      ),
    placeholderData: keepPreviousData,
  });
  const none = prefix === '' ? NOBODY_YET : `No ID begins with “${prefix}”. IDs are case-sensitive.`;
  return (
    <Pages of={users} none={none}>
      {(rows) => <People rows={rows} />}
    </Pages>
  );
}

const NOBODY_YET = (
  <>
    There are no users yet. Post a conversation, or try the <Link href="/playground">playground</Link>.
  </>
);

const People = ({ rows }: { readonly rows: readonly User[] }) => (
  <Table
    name="Users"
    card
    rows={rows}
    keyOf={({ kind, id }) => `${kind} ${id}`}
    columns={[
      ['ID', (user) => <Link href={pathOf(user)}>{user.id}</Link>, 'text'],
      ['Kind', ({ kind }) => kind, 'quiet'],
      ['Memories', ({ memories }) => whole(memories), 'number'],
      ['Waiting batches', ({ pending }) => pending > 0 && <span className="tag wait">{whole(pending)}</span>, 'number'],
      ['Last active', ({ updated_at: at }) => <Moment iso={at} />],
    ]}
  />
);

const EVERY_MS = 1_000;

const STATES = {
  requested: 'Nothing can be found or added any more. Erasing will start in a moment.',
  erasing: 'Erasing …',
  compacting: 'Everything is deleted. The files are being rewritten so that nothing is left on disk.',
  erased: 'Erased.',
} as const;

/** How far an erasure is, until it is complete. */
function ErasureProgress({ id }: { readonly id: string }) {
  const erasure = useQuery({
    queryKey: ['erasure', id],
    queryFn: ({ signal }) => api.users.erasure(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'erased' ? false : EVERY_MS),
  });
  return (
    <section className="card" aria-label="Erasure">
      <h2>Erasure</h2>
      <Answer of={erasure}>
        {({ state, counts, remains }) => (
          <>
            <p role="status">{STATES[state]}</p>
            <p className="row">
              {Object.entries(counts).map(([kind, count]) => (
                <span key={kind} className="tag">
                  {whole(count)} {kind.replaceAll('_', ' ')}
                </span>
              ))}
            </p>
            {remains.map((rest) => (
              <p key={rest} className="quiet">
                {rest}
              </p>
            ))}
          </>
        )}
      </Answer>
    </section>
  );
}

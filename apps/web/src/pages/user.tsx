import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { api, isOfAllApps, may } from '../api.ts';
import { type Owner, pathOf, useOwner } from '../owner.ts';
import { useWho } from '../session.ts';
import { Action } from '../ui/action.tsx';
import { saveExport } from '../ui/export.ts';
import { Choice } from '../ui/filters.tsx';
import { asItIs, ProfileCard } from '../ui/profile.tsx';
import { Secret } from '../ui/secret.tsx';
import { AddMemory } from './user/add.tsx';
import { AsChatsGetIt } from './user/context.tsx';
import { Erase } from './user/erasing.tsx';
import { Remembered } from './user/remembered.tsx';
import { Runs } from './user/runs.tsx';
import { Timeline } from './user/timeline.tsx';

/** What is remembered of one user, agent or run, now and at any time. */
export function UserPage() {
  const owner = useOwner();
  if (owner === null) return <h1>Page not found</h1>;
  return <OfOwner key={pathOf(owner)} owner={owner} />;
}

const VIEWS = { memories: 'Memories', context: 'Prompt context' } as const;

/** The address says at what time and which part, so that it can be sent to somebody. */
function OfOwner({ owner }: { readonly owner: Owner }) {
  const [search, setSearch] = useSearchParams();
  const asOf = search.get('as_of');
  const view = search.get('show') === 'context' ? 'context' : 'memories';
  const show = (part: 'as_of' | 'show', value: string | null): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        if (value === null) after.delete(part);
        else after.set(part, value);
        return after;
      },
      { replace: true },
    );
  return (
    <>
      <div className="row">
        <h1>
          {owner.kind !== 'user' && <span className="quiet">{owner.kind} </span>}
          {owner.id}
        </h1>
        <Whole owner={owner} />
      </div>
      <Timeline owner={owner} asOf={asOf} move={(moment) => show('as_of', moment)} />
      <Choice name="View" options={VIEWS} chosen={view} choose={(part) => show('show', part)} />
      {owner.kind === 'user' && <ProfileOf id={owner.id} />}
      {owner.kind !== 'run' && <Runs owner={owner} />}
      {view === 'memories' ? <Remembered owner={owner} asOf={asOf} /> : <AsChatsGetIt owner={owner} asOf={asOf} />}
    </>
  );
}

function ProfileOf({ id }: { readonly id: string }) {
  const who = useWho();
  if (!may(who, 'search') || !isOfAllApps(who)) return null;
  return (
    <ProfileCard
      title="Profile"
      api={api}
      userId={id}
      mayChange={may(who, 'manage')}
      shown={['owner', 'user', id]}
      plainly={asItIs}
    />
  );
}

/** What can be done with all of it. */
function Whole({ owner }: { readonly owner: Owner }) {
  const who = useWho();
  const mayManage = may(who, 'manage');
  const mayManageAll = mayManage && isOfAllApps(who) && (who.user_id === null || owner.kind === 'user');
  return (
    <div className="row push">
      {owner.kind === 'user' && isOfAllApps(who) && (
        <Link className="button" href={`/graph?${new URLSearchParams({ user: owner.id })}`}>
          Graph
        </Link>
      )}
      {mayManage && <AddMemory owner={owner} />}
      {mayManageAll && owner.kind === 'user' && (
        <Action run={() => saveExport(api.users.export(owner.id), owner.id)}>Export</Action>
      )}
      {mayManageAll && owner.kind === 'user' && <OwnPage id={owner.id} />}
      {mayManageAll && <Erase owner={owner} />}
    </div>
  );
}

/** Makes a link for the user themselves. */
function OwnPage({ id }: { readonly id: string }) {
  const [path, setPath] = useState<string | null>(null);
  return (
    <>
      <Action run={() => api.users.link(id)} done={(link) => setPath(link.path)}>
        Create a link
      </Action>
      {path !== null && (
        <Secret title="Link to the user’s own page" secret={`${location.origin}${path}`} close={() => setPath(null)}>
          <p>
            Anyone who opens it can see, correct, forget, pause and erase what is remembered about {id}. It works once,
            within an hour. Send it only to the user.
          </p>
        </Secret>
      )}
    </>
  );
}

import type { Memory, Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { api, isOfAllApps, may, useWho } from '../api.ts';
import { type Owner, pathOf, useIds, useOwner } from '../owner.tsx';
import { Choice } from '../ui/filters.tsx';
import { Action, Confirm, FormDialog, Line, LongText, Opens, Secret } from '../ui/forms.tsx';
import { Table } from '../ui/lists.tsx';
import { asItIs, ProfileCard, saveExport } from '../ui/person.tsx';
import { Problem, useLater } from '../ui/reading.tsx';
import { AsChatsGetIt } from './user/context.tsx';
import { Remembered, useMemories } from './user/remembered.tsx';

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
      {mayManage && (
        <Opens kind="main" window={(close) => <AddMemory owner={owner} close={close} />}>
          Add a memory …
        </Opens>
      )}
      {mayManageAll && owner.kind === 'user' && (
        <Action run={() => saveExport(api.users.export(owner.id), owner.id)}>Export</Action>
      )}
      {mayManageAll && owner.kind === 'user' && <OwnPage id={owner.id} />}
      {mayManageAll && (
        <Opens kind="danger" window={(close) => <Erase owner={owner} close={close} />}>
          Erase …
        </Opens>
      )}
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

interface Moving {
  readonly owner: Owner;
  /** The moment that the page shows; null: now. */
  readonly asOf: string | null;
  readonly move: (moment: string | null) => void;
}

const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short' });

/**
 * Moves the page through time. Each step of the slider is a moment at which something was said or changed: years of silence take no
 * room, and busy days can be gone through one change at a time.
 */
function Timeline({ owner, asOf, move }: Moving) {
  const { memories } = useMemories(owner, null);
  const moments = useMemo(() => momentsOf(memories ?? [], new Date().toISOString()), [memories]);
  const [place, setPlace] = useState<number | null>(null);
  const asked = useLater(place);
  useEffect(() => {
    if (asked === null) return;
    move(moments[asked] ?? null);
    setPlace(null);
    // Only what somebody moved counts, not that more memories have arrived meanwhile.
  }, [asked]);
  if (moments.length === 0) return null;
  const shown = place === null ? asOf : (moments[place] ?? null);
  return (
    <section className="card" aria-label="Time">
      <div className="row">
        <label htmlFor="as-of">As of {shown === null ? 'now' : EXACT.format(new Date(shown))}</label>
        <button type="button" className="push" disabled={asOf === null} onClick={() => move(null)}>
          Back to now
        </button>
      </div>
      <input
        id="as-of"
        type="range"
        min={0}
        max={moments.length}
        value={place ?? placeOf(moments, asOf)}
        aria-valuetext={shown === null ? 'now' : EXACT.format(new Date(shown))}
        onChange={({ target }) => setPlace(Number(target.value))}
      />
    </section>
  );
}

/** When something began to hold or was said, in order. */
const momentsOf = (memories: readonly Memory[], now: string): readonly string[] =>
  [...new Set(memories.flatMap(({ valid_from, created_at, updated_at }) => [valid_from, created_at, updated_at]))]
    .filter((moment) => moment <= now)
    .sort();

function placeOf(moments: readonly string[], asOf: string | null): number {
  if (asOf === null) return moments.length;
  const later = moments.findIndex((moment) => moment > asOf);
  return Math.max(0, (later < 0 ? moments.length : later) - 1);
}

type Run = Operations['GET /v1/runs/{id}/state']['answer'];

const SHOWN = 20;

/** What runs of an owner work on; nothing where none has a state. */
function Runs({ owner: { kind, id } }: { readonly owner: Owner }) {
  const who = useWho();
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', kind, id],
    queryFn: ({ signal }) => api.send('GET /v1/runs', { query: { [`${kind}_id`]: id, limit: SHOWN } }, { signal }),
    enabled: may(who, 'search') && isOfAllApps(who),
  });
  if (error !== null) return <Problem error={error} retry={refetch} />;
  if (data === undefined || data.results.length === 0) return null;
  return (
    <details className="card" aria-label="Runs">
      <summary>{data.results.length === 1 ? 'One run' : `${data.results.length} runs`} with a state</summary>
      {data.results.map((run) => (
        <OneRun key={run.run_id} run={run} />
      ))}
    </details>
  );
}

function OneRun({ run }: { readonly run: Run }) {
  return (
    <section aria-label={`Run ${run.run_id}`}>
      <h3>
        {run.run_id} <span className="quiet">version {run.version}</span>{' '}
        {run.ended_at !== null && <span className="tag">ended</span>}
        {run.waiting_for_approval.length > 0 && <span className="tag wait">waiting for approval</span>}
      </h3>
      {run.goal !== null && <p>{run.goal}</p>}
      {run.steps.length > 0 && (
        <Table
          name={`Steps of ${run.run_id}`}
          rows={run.steps}
          keyOf={({ id }) => id}
          columns={[
            ['Step', ({ title }) => title],
            ['State', ({ state }) => state.replaceAll('_', ' ')],
            ['Result', ({ result }) => result],
          ]}
        />
      )}
    </section>
  );
}

/** Writes a memory as it is typed, without a model. */
function AddMemory({ owner, close }: { readonly owner: Owner; readonly close: () => void }) {
  const ids = useIds(owner);
  const [text, setText] = useState<string | null>(null);
  const [category, setCategory] = useState<string | null>(null);
  const [pinned, setPinned] = useState(false);
  const categories = category === null || category.trim() === '' ? undefined : [category.trim()];
  return (
    <FormDialog
      title="Add a memory"
      submit="Add"
      close={close}
      disabled={text === null}
      run={() => api.memories.add({ ...ids, memory: text?.trim() ?? '', categories, pinned })}
      touches={[['owner', owner.kind, owner.id], ['users']]}
    >
      <LongText
        name="What to remember"
        hint="A complete sentence that makes sense on its own, such as “Ana is allergic to nuts”."
        value={text}
        change={setText}
      />
      <Line name="Category (optional)" value={category} change={setCategory} />
      <label className="row plainly">
        <input type="checkbox" checked={pinned} onChange={({ target }) => setPinned(target.checked)} />
        Pin it: it is never forgotten automatically, and comes first in the profile
      </label>
    </FormDialog>
  );
}

const START: Readonly<Record<Owner['kind'], (id: string) => ReturnType<typeof api.users.erase>>> = {
  user: (id) => api.users.erase(id),
  agent: (id) => api.users.eraseAgent(id),
  run: (id) => api.users.eraseRun(id),
};

/** Erases somebody, after their id was typed. Its progress is shown where all users are: their own page is gone. */
function Erase({ owner: { kind, id }, close }: { readonly owner: Owner; readonly close: () => void }) {
  const [, go] = useLocation();
  return (
    <Confirm
      title={`Erase the ${kind} ${id} permanently?`}
      submit="Erase permanently"
      word={id}
      close={close}
      run={() => START[kind](id)}
      touches={[['users'], ['owner'], ['stats']]}
      done={({ erasure_id: erasure }) => go(`/users?erasure=${erasure}`)}
    >
      <p>
        This erases everything they said and everything derived from it: messages, memories with their history, the
        graph, summaries, model answers, and the id itself. It cannot be undone. To hide single memories, delete them
        instead.
      </p>
    </Confirm>
  );
}

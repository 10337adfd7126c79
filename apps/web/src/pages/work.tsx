import type { BatchSummary, ParkedList, PostReplay, Parked as Reason } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, may, mayChange, useWho } from '../api.ts';
import { Decision, OwnerLink } from '../owner.tsx';
import { counted, Moment, whole } from '../ui/figures.tsx';
import { Exact, Filters, OneOf, useFilters } from '../ui/filters.tsx';
import { Action, Confirm } from '../ui/forms.tsx';
import { Pages, Table, usePages } from '../ui/lists.tsx';
import { Answer, Empty, live } from '../ui/reading.tsx';
import { isOpenReplay, Progress, StateTag } from '../ui/standing.tsx';

/** How often it is read again while somebody looks. */
const EVERY_MS = 3_000;
const SHOWN = 5;
const REPLAY_NAMES = { live: 'Replay', what_if: 'What-if', suite: 'Suite run' } as const;

/** What waits, what is stuck and why, and what is being done about it. */
export function Work() {
  const who = useWho();
  return (
    <>
      <h1>Work</h1>
      {may(who, 'admin') && <Parked />}
      {may(who, 'admin') && <Replays />}
      {mayChange(who) && <Erasures />}
      <Batches />
    </>
  );
}

/** The last replays and what-ifs, and runs of suites. */
function Replays() {
  const list = usePages({
    queryKey: ['replays'],
    read: (cursor, signal) => api.send('GET /v1/replays', { query: { limit: SHOWN, cursor } }, { signal }),
    everyMs: EVERY_MS,
  });
  if (list.rows?.length === 0) return null;
  return (
    <section className="card" aria-label="Replays">
      <h2>Replays</h2>
      <Pages of={list}>
        {(rows) => (
          <ul className="plain">
            {rows.map((replay) => (
              <li key={replay.id}>
                <div className="row">
                  <Link href={`/work/replays/${replay.id}`}>{REPLAY_NAMES[replay.kind]}</Link>
                  <StateTag state={replay.state} />
                  <span className="quiet">
                    {counted(replay.matched, 'batch', 'batches')}, <Moment iso={replay.created_at} />
                  </span>
                </div>
                {isOpenReplay(replay) && <Running id={replay.id} />}
              </li>
            ))}
          </ul>
        )}
      </Pages>
    </section>
  );
}

function Running({ id }: { readonly id: string }) {
  const replay = useQuery({
    queryKey: ['replays', id],
    queryFn: ({ signal }) => api.replays.get(id, { signal }),
    ...live(EVERY_MS),
  });
  return <Answer of={replay}>{(now) => <Progress replay={now} />}</Answer>;
}

/** Nothing is shown of whom they erase: that is what they are for. */
function Erasures() {
  const erasures = useQuery({
    queryKey: ['erasures'],
    queryFn: ({ signal }) => api.send('GET /v1/erasures', {}, { signal }),
    ...live(EVERY_MS),
  });
  if (erasures.data?.results.length === 0) return null;
  return (
    <section className="card" aria-label="Erasures">
      <h2>Erasures in progress</h2>
      <Answer of={erasures}>
        {({ results }) => (
          <ul className="plain">
            {results.map(({ id, state, requested_at: at, counts }) => (
              <li key={id} className="row">
                <StateTag state={state} /> <code>{id}</code>
                <span className="quiet">
                  requested <Moment iso={at} />, {Object.values(counts).reduce((sum, count) => sum + count, 0)} rows
                  erased so far
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </section>
  );
}

/** Why batches are stuck, and what mends it. */
function Parked() {
  const [replaying, setReplaying] = useState<string | null>(null);
  const parked = useQuery({
    queryKey: ['parked'],
    queryFn: ({ signal }) => api.send('GET /v1/parked', {}, { signal }),
    ...live(EVERY_MS),
  });
  return (
    <section aria-label="Parked">
      <Answer of={parked}>
        {({ results, studies }) => (
          <>
            <div className="row heading">
              <h2>Parked</h2>
              {results.length > 1 && (
                <button type="button" onClick={() => setReplaying('')}>
                  Replay all …
                </button>
              )}
            </div>
            {results.length + studies.length === 0 && <Empty>No batches are parked.</Empty>}
            {results.map((reason) => (
              <Stuck key={reason.code} reason={reason} replay={() => setReplaying(reason.code)} />
            ))}
            {studies.length > 0 && <Studies studies={studies} />}
          </>
        )}
      </Answer>
      {replaying !== null && (
        <Replaying filter={replaying === '' ? {} : { error_code: replaying }} close={() => setReplaying(null)} />
      )}
    </section>
  );
}

/** What of the graph is missing, since it could not be read out of a consolidation. */
const Studies = ({ studies }: Pick<ParkedList, 'studies'>) => (
  <article className="card" aria-label="Graph">
    <h3>
      Missing in the graph <span className="tag bad">{counted(studies.length, 'consolidation', 'consolidations')}</span>
    </h3>
    <ul className="plain">
      {studies.map((study) => (
        <li key={study.consolidation_id} className="row">
          <OwnerLink of={study} />
          <Link href={`/consolidations/${study.consolidation_id}`}>
            <Moment iso={study.requested_at} />
          </Link>
          {study.error !== null && <Failure error={study.error} />}
          <span className="push">
            <Action
              run={() => api.send('POST /v1/consolidations/{id}/graph', { params: { id: study.consolidation_id } })}
              touches={[['parked']]}
            >
              Try again
            </Action>
          </span>
        </li>
      ))}
    </ul>
  </article>
);

const Failure = ({ error: { code, message } }: { readonly error: NonNullable<BatchSummary['error']> }) => (
  <details>
    <summary>
      <code>{code}</code>
    </summary>
    <p className="text">{message}</p>
  </details>
);

const Stuck = ({ reason, replay }: { readonly reason: Reason; readonly replay: () => void }) => (
  <article className="card">
    <h3>
      <code>{reason.code}</code> <span className="tag bad">{counted(reason.batches, 'batch', 'batches')}</span>
    </h3>
    <p>{reason.remedy}</p>
    <details>
      <summary>Error message</summary>
      <p className="text">{reason.example}</p>
    </details>
    <div className="row">
      <button type="button" onClick={replay}>
        Replay {reason.batches === 1 ? 'it' : 'them'} …
      </button>
      <Link
        href={`/work?${new URLSearchParams({ state: 'parked', reason: reason.code })}`}
        onClick={() => document.getElementById('batches')?.focus()}
      >
        Show
      </Link>
      <span className="quiet">
        {counted(reason.owners, 'owner', 'owners')}; the oldest was accepted <Moment iso={reason.oldest_at} />
      </span>
    </div>
  </article>
);

type State = BatchSummary['state'];

const STATES: readonly State[] = ['pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone'];
const PAGE = 50;

/** Every batch, newest first, and where it is. */
function Batches() {
  const { chosen, choose } = useFilters(['state', 'user', 'reason', 'lane']);
  const list = usePages({
    queryKey: ['batches', chosen],
    read: (cursor, signal) => {
      const { state, user, reason, lane } = chosen;
      const query = { limit: PAGE, cursor, state: state as State | undefined, user_id: user, error_code: reason, lane };
      return api.batches.list(query, { signal });
    },
    everyMs: EVERY_MS,
  });
  return (
    <section id="batches" aria-label="Batches" tabIndex={-1}>
      <h2>Batches</h2>
      <Filters>
        <OneOf name="State" value={chosen.state} options={STATES} choose={(state) => choose({ state })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
        <Exact name="Reason" value={chosen.reason} choose={(reason) => choose({ reason })} />
        <Exact name="Lane" value={chosen.lane} choose={(lane) => choose({ lane })} />
      </Filters>
      <Pages
        of={list}
        none={Object.keys(chosen).length === 0 ? 'No batches yet. Try the playground.' : 'No batches match the filter.'}
      >
        {(rows) => <Found rows={rows} />}
      </Pages>
    </section>
  );
}

const isReplayable = ({ state }: BatchSummary): boolean => state === 'parked' || state === 'undone';

function Found({ rows }: { readonly rows: readonly BatchSummary[] }) {
  const who = useWho();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [replaying, setReplaying] = useState<State | null>(null);
  const ids = (state: State) => rows.filter((row) => row.state === state && picked.has(row.id)).map(({ id }) => id);
  const mayReplay = may(who, 'admin') && rows.some(isReplayable);
  const mayOpenJobs = may(who, 'operator');
  return (
    <>
      {mayReplay && (
        <div className="row picked">
          {(['parked', 'undone'] as const)
            .filter((state) => rows.some((row) => row.state === state))
            .map((state) => (
              <button key={state} type="button" disabled={ids(state).length === 0} onClick={() => setReplaying(state)}>
                Replay {ids(state).length} {state} …
              </button>
            ))}
        </div>
      )}
      <Table
        name="All batches"
        card
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          mayReplay && ['', (row) => isReplayable(row) && <Pick of={row.id} picked={picked} pick={setPicked} />],
          ['Accepted', ({ timings }) => <Moment iso={timings.accepted_at} />],
          ['Owner', (row) => <OwnerLink of={row} />],
          ['State', (row) => <Standing row={row} />],
          ['Messages', ({ messages }) => messages, 'number'],
          ['Attempts', ({ attempts }) => attempts, 'number'],
          ['Reason', ({ error }) => error !== null && <Failure error={error} />],
          ['Details', (row) => <Details row={row} mayOpenJobs={mayOpenJobs} />, 'nowrap'],
        ]}
      />
      {replaying !== null && (
        <Replaying
          filter={{ batch_ids: ids(replaying), state: replaying as 'parked' | 'undone' }}
          close={() => setReplaying(null)}
        />
      )}
    </>
  );
}

interface Picking {
  readonly of: string;
  readonly picked: ReadonlySet<string>;
  readonly pick: (picked: ReadonlySet<string>) => void;
}

const Pick = ({ of: id, picked, pick }: Picking) => (
  <input
    type="checkbox"
    aria-label={`Select batch ${id}`}
    checked={picked.has(id)}
    onChange={({ target }) => pick(new Set(target.checked ? [...picked, id] : [...picked].filter((one) => one !== id)))}
  />
);

interface OfBatch {
  readonly row: BatchSummary;
}

const Standing = ({ row: { state, stage } }: OfBatch) => (
  <>
    <StateTag state={state} /> {state === 'consolidating' && <span className="quiet">{stage}</span>}
  </>
);

const Details = ({ row, mayOpenJobs }: OfBatch & { readonly mayOpenJobs: boolean }) => (
  <>
    {row.state === 'pending' && <Now owner={row} />}
    {row.consolidation_id !== null && <Decision id={row.consolidation_id}>Why</Decision>}{' '}
    {mayOpenJobs && (
      <a href={`/queues/of/${encodeURIComponent(row.lane)}`} aria-label={`Job of ${row.id}`}>
        Job
      </a>
    )}
  </>
);

/** All that waits for its owner is due at once. */
function Now({ owner: { user_id: user, agent_id: agent, run_id: run } }: { readonly owner: BatchSummary }) {
  const owner = { user_id: user ?? undefined, agent_id: agent ?? undefined, run_id: run ?? undefined };
  return (
    <Action run={() => api.flush(owner)} touches={[['batches']]}>
      Consolidate now
    </Action>
  );
}

interface Asked {
  readonly filter: PostReplay['filter'];
  readonly close: () => void;
}

/** Which batches are tried again, before they are. */
function Replaying({ filter, close }: Asked) {
  const [, go] = useLocation();
  const rehearsal = useQuery({
    queryKey: ['rehearsal', filter],
    queryFn: async ({ signal }) => {
      const answer = await api.replays.start({ filter, dry_run: true }, { signal });
      if ('dry_run' in answer) return answer;
      throw new Error('expected a dry run to be answered with what matches');
    },
    staleTime: 0,
  });
  return (
    <Confirm
      title="Replay these batches?"
      submit="Replay"
      close={close}
      disabled={(rehearsal.data?.matched ?? 0) === 0}
      run={() => api.replays.start({ filter })}
      touches={[['replays'], ['parked'], ['batches']]}
      done={(replay) => 'id' in replay && go(`/work/replays/${replay.id}`)}
    >
      <Answer of={rehearsal}>
        {({ matched, sample, forecast: { tokens } }) => (
          <>
            <p>
              {matched === 1 ? 'One batch' : `${whole(matched)} batches`} will be queued again, with the original times:
              newer information is not overwritten. This will use about {whole(tokens.about)} ±{' '}
              {whole(tokens.plus_minus)} tokens.
            </p>
            <ul>
              {sample.map((batch) => (
                <li key={batch.id}>
                  <OwnerLink of={batch} />{' '}
                  <span className="quiet">
                    <Moment iso={batch.accepted_at} />
                  </span>{' '}
                  {batch.error !== null && <code>{batch.error.code}</code>}
                </li>
              ))}
            </ul>
            {sample.length < matched && <p className="quiet">The first {sample.length} are shown.</p>}
          </>
        )}
      </Answer>
    </Confirm>
  );
}

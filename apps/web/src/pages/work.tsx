import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, may, mayChange } from '../api.ts';
import { useWho } from '../session.ts';
import { Pages, usePages } from '../ui/pages.tsx';
import { live } from '../ui/reading.ts';
import { isOpenReplay, Progress, StateTag } from '../ui/standing.tsx';
import { Answer } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { Batches } from './work/batches.tsx';
import { Parked } from './work/parked.tsx';

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
                    {replay.matched.toLocaleString('en')} {replay.matched === 1 ? 'batch' : 'batches'},{' '}
                    <Moment iso={replay.created_at} />
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

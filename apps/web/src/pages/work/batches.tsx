import type { BatchSummary } from '@slowwave/sdk';
import { useState } from 'react';
import { api, may } from '../../api.ts';
import { useWho } from '../../session.ts';
import { Action } from '../../ui/action.tsx';
import { Exact, Filters, Select, useFilters } from '../../ui/filters.tsx';
import { Decision, Owner } from '../../ui/links.tsx';
import { Pages, usePages } from '../../ui/pages.tsx';
import { StateTag } from '../../ui/standing.tsx';
import { Empty } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { Wide } from '../../ui/wide.tsx';
import { Replaying } from './replaying.tsx';

type State = BatchSummary['state'];

const STATES: readonly State[] = ['pending', 'consolidating', 'consolidated', 'empty', 'parked', 'undone'];
const PAGE = 50;
const EVERY_MS = 3_000;

/** Every batch, newest first, and where it is. */
export function Batches() {
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
        <Select name="State" value={chosen.state} options={STATES} choose={(state) => choose({ state })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
        <Exact name="Reason" value={chosen.reason} choose={(reason) => choose({ reason })} />
        <Exact name="Lane" value={chosen.lane} choose={(lane) => choose({ lane })} />
      </Filters>
      <Pages of={list}>
        {(rows) =>
          rows.length > 0 ? (
            <Table rows={rows} />
          ) : (
            <Empty>
              {Object.keys(chosen).length === 0
                ? 'No batches yet. Try the playground.'
                : 'No batches match the filter.'}
            </Empty>
          )
        }
      </Pages>
    </section>
  );
}

const isReplayable = ({ state }: BatchSummary): boolean => state === 'parked' || state === 'undone';

function Table({ rows }: { readonly rows: readonly BatchSummary[] }) {
  const who = useWho();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [replaying, setReplaying] = useState<State | null>(null);
  const ids = (state: State) => rows.filter((row) => row.state === state && picked.has(row.id)).map(({ id }) => id);
  const pick = (id: string, isPicked: boolean) =>
    setPicked(new Set(isPicked ? [...picked, id] : [...picked].filter((one) => one !== id)));
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
      <Wide name="All batches" card>
        <table>
          <thead>
            <tr>
              {mayReplay && <td />}
              <th>Accepted</th>
              <th>Owner</th>
              <th>State</th>
              <th className="number">Messages</th>
              <th className="number">Attempts</th>
              <th>Reason</th>
              <th>Details</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                {mayReplay && (
                  <td>
                    {isReplayable(row) && (
                      <input
                        type="checkbox"
                        aria-label={`Select batch ${row.id}`}
                        checked={picked.has(row.id)}
                        onChange={({ target }) => pick(row.id, target.checked)}
                      />
                    )}
                  </td>
                )}
                <Cells row={row} mayOpenJobs={mayOpenJobs} />
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
      {replaying !== null && (
        <Replaying
          filter={{ batch_ids: ids(replaying), state: replaying as 'parked' | 'undone' }}
          close={() => setReplaying(null)}
        />
      )}
    </>
  );
}

const Cells = ({ row, mayOpenJobs }: { readonly row: BatchSummary; readonly mayOpenJobs: boolean }) => (
  <>
    <td>
      <Moment iso={row.timings.accepted_at} />
    </td>
    <td>
      <Owner of={row} />
    </td>
    <td>
      <StateTag state={row.state} /> {row.state === 'consolidating' && <span className="quiet">{row.stage}</span>}
    </td>
    <td className="number">{row.messages}</td>
    <td className="number">{row.attempts}</td>
    <td>
      {row.error !== null && (
        <details>
          <summary>{row.error.code}</summary>
          {row.error.message}
        </details>
      )}
    </td>
    <td className="nowrap">
      {row.state === 'pending' && <Now owner={row} />}
      {row.consolidation_id !== null && <Decision id={row.consolidation_id}>Why</Decision>}{' '}
      {mayOpenJobs && (
        <a href={`/queues/of/${encodeURIComponent(row.lane)}`} aria-label={`Job of ${row.id}`}>
          Job
        </a>
      )}
    </td>
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

import type { ConsolidationSummary } from '@slowwave/sdk';
import { api } from '../api.ts';
import { Exact, Filters, Select, useFilters } from '../ui/filters.tsx';
import { Decision, Owner } from '../ui/links.tsx';
import { Pages, usePages } from '../ui/pages.tsx';
import { StateTag } from '../ui/standing.tsx';
import { Empty } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { Wide } from '../ui/wide.tsx';

type State = ConsolidationSummary['state'];

const STATES: readonly State[] = ['thinking', 'planned', 'waiting', 'applied', 'split', 'parked', 'undone'];
const PAGE = 50;
/** New ones come while somebody looks. */
const EVERY_MS = 5_000;

/** What was decided about whom, newest first. */
export function Consolidations() {
  const { chosen, choose } = useFilters(['state', 'user']);
  const list = usePages({
    queryKey: ['consolidations', chosen],
    read: (cursor, signal) =>
      api.send(
        'GET /v1/consolidations',
        { query: { limit: PAGE, cursor, state: chosen.state as State | undefined, user_id: chosen.user } },
        { signal },
      ),
    everyMs: EVERY_MS,
  });
  return (
    <>
      <h1>Consolidations</h1>
      <Filters>
        <Select name="State" value={chosen.state} options={STATES} choose={(state) => choose({ state })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
      </Filters>
      <Pages of={list}>
        {(rows) =>
          rows.length > 0 ? (
            <Table rows={rows} />
          ) : (
            <Empty>
              {Object.keys(chosen).length === 0
                ? 'No consolidations yet. They appear here after you post a conversation.'
                : 'No consolidations match the filter.'}
            </Empty>
          )
        }
      </Pages>
    </>
  );
}

const Table = ({ rows }: { readonly rows: readonly ConsolidationSummary[] }) => (
  <Wide name="Consolidations" card>
    <table>
      <thead>
        <tr>
          <th>Started</th>
          <th>Owner</th>
          <th>State</th>
          <th className="number">Batches</th>
          <th className="number">Attempts</th>
          <th>Failure</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              <Decision id={row.id} otherwise={<Moment iso={row.created_at} />}>
                <Moment iso={row.created_at} />
              </Decision>
            </td>
            <td>
              <Owner of={row} />
            </td>
            <td>
              <StateTag state={row.state} />
            </td>
            <td className="number">{row.batch_ids.length}</td>
            <td className="number">{row.attempts}</td>
            <td>{row.error?.code}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
);

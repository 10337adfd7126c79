import type { ConsolidationSummary } from '@slowwave/sdk';
import { api } from '../api.ts';
import { Decision, OwnerLink } from '../owner.tsx';
import { Moment } from '../ui/figures.tsx';
import { Exact, Filters, OneOf, useFilters } from '../ui/filters.tsx';
import { Pages, Table, usePages } from '../ui/lists.tsx';
import { StateTag } from '../ui/standing.tsx';

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
        <OneOf name="State" value={chosen.state} options={STATES} choose={(state) => choose({ state })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
      </Filters>
      <Pages
        of={list}
        none={
          Object.keys(chosen).length === 0
            ? 'No consolidations yet. They appear here after you post a conversation.'
            : 'No consolidations match the filter.'
        }
      >
        {(rows) => <Found rows={rows} />}
      </Pages>
    </>
  );
}

const Found = ({ rows }: { readonly rows: readonly ConsolidationSummary[] }) => (
  <Table
    name="Consolidations"
    card
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      ['Started', startOf],
      ['Owner', (row) => <OwnerLink of={row} />],
      ['State', ({ state }) => <StateTag state={state} />],
      ['Batches', (row) => row.batch_ids.length, 'number'],
      ['Attempts', ({ attempts }) => attempts, 'number'],
      ['Failure', ({ error }) => error?.code],
    ]}
  />
);

function startOf({ id, created_at: at }: ConsolidationSummary) {
  const moment = <Moment iso={at} />;
  return (
    <Decision id={id} otherwise={moment}>
      {moment}
    </Decision>
  );
}

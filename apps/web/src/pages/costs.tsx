import type { Operations, UsageRow } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api, may, useWho } from '../api.ts';
import { DAY_MS, MEASURES, type Measure, Moment, measured, money, type Used, utcDay, whole } from '../ui/figures.tsx';
import { Choice, OneOf, useFilters } from '../ui/filters.tsx';
import { Action } from '../ui/forms.tsx';
import { Table } from '../ui/lists.tsx';
import { Answer, Empty, Loading } from '../ui/reading.tsx';

const Bars = lazy(async () => ({ default: (await import('../ui/bars.tsx')).Bars }));

const PERIODS = { week: 'Last 7 days', month: 'Last 35 days' } as const;
const DAYS = { week: 7, month: 35 } as const satisfies Record<keyof typeof PERIODS, number>;
const GROUPS = {
  ...{ step: 'Step', model: 'Model', cause: 'Cause' },
  ...{ user: 'User', app: 'App', key: 'Key' },
} as const;
type Group = keyof typeof GROUPS;

const CAUSES = ['live', 'retry', 'repair', 'summary', 'graph', 'what-if', 'suite', 'recall', 'preview'] as const;

/** What model calls used and cost, by day and by what they were for. */
export function Costs() {
  const [period, setPeriod] = useState<keyof typeof PERIODS>('week');
  const [measure, setMeasure] = useState<Measure>('tokens');
  const [group, setGroup] = useState<Group>('step');
  const { chosen, choose } = useFilters(['cause']);
  // Whole days of UTC: the same question until midnight.
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const from = today - (DAYS[period] - 1) * DAY_MS;
  const asked = { from: new Date(from).toISOString(), cause: CAUSES.find((one) => one === chosen.cause) };
  return (
    <>
      <h1>Costs</h1>
      <div className="row filters">
        <Choice name="Period" options={PERIODS} chosen={period} choose={setPeriod} />
        <Choice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
        <Choice name="Group by" options={GROUPS} chosen={group} choose={setGroup} />
        <OneOf name="Cause" value={chosen.cause} options={CAUSES} choose={(cause) => choose({ cause })} />
      </div>
      <Days asked={asked} times={Array.from({ length: DAYS[period] }, (_, i) => from + i * DAY_MS)} measure={measure} />
      <Groups asked={asked} group={group} />
      <Holds />
    </>
  );
}

type Query = NonNullable<Operations['GET /v1/usage']['query']>;
type Asked = Pick<Query, 'from' | 'cause'>;

const ROWS_MAX = 100;

const useUsage = (query: Query) =>
  useQuery({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => api.send('GET /v1/usage', { query: { limit: ROWS_MAX, ...query } }, { signal }),
    placeholderData: keepPreviousData,
  });

interface ByDay {
  readonly asked: Asked;
  readonly times: readonly number[];
  readonly measure: Measure;
}

/** What was answered, and apart from it what was not. */
function Days({ asked, times, measure }: ByDay) {
  const usage = useUsage({ ...asked, group_by: 'day' });
  return <Answer of={usage}>{({ results }) => <Drawn rows={results} times={times} measure={measure} />}</Answer>;
}

function Drawn({ rows, times, measure }: Omit<ByDay, 'asked'> & { readonly rows: readonly UsageRow[] }) {
  const days = new Map(rows.map((row) => [Date.parse(row.day ?? ''), row]));
  const values = (of: (row: UsageRow) => Used) =>
    times.map((time) => {
      const row = days.get(time);
      return row === undefined ? 0 : measured(of(row), measure);
    });
  return (
    <section className="card">
      <h2>{MEASURES[measure]} by day (UTC)</h2>
      <Suspense fallback={<Loading />}>
        <Bars
          name={`${MEASURES[measure]} of model calls by day`}
          times={times}
          utc
          timeText={utcDay}
          parts={[
            { name: 'Answered', color: '--act', values: values((row) => row) },
            { name: 'Unanswered (estimated)', color: '--wait', values: values(({ unanswered }) => unanswered) },
          ]}
        />
      </Suspense>
      <p className="quiet">
        The provider’s bill lies between the answered calls and the total. Calls in progress count as unanswered.
      </p>
    </section>
  );
}

const FIELDS = {
  ...{ step: 'step', model: 'model', cause: 'cause' },
  ...{ user: 'user_id', app: 'app_id', key: 'key_id' },
} as const satisfies Record<Group, keyof UsageRow>;

function Groups({ asked, group }: { readonly asked: Asked; readonly group: Group }) {
  const query = { ...asked, group_by: group };
  const usage = useUsage(query);
  const name = GROUPS[group];
  const given = Object.entries({ ...query, format: 'csv' }).flatMap(([field, value]) =>
    value === undefined ? [] : [[field, value]],
  );
  return (
    <Answer of={usage}>
      {({ results, next_cursor: next }) =>
        results.length === 0 ? (
          <Empty>No model was called in this period.</Empty>
        ) : (
          <>
            <div className="row heading">
              <h2>By {name.toLowerCase()}</h2>
              <a href={`/v1/usage?${new URLSearchParams(given)}`} download="usage.csv">
                Download CSV
              </a>
            </div>
            <Table
              name={`Model calls by ${name.toLowerCase()}`}
              card
              rows={results}
              keyOf={(row) => String(row[FIELDS[group]])}
              columns={[
                [name, (row) => row[FIELDS[group]] ?? 'none'],
                ['Calls', ({ calls }) => whole(calls), 'number'],
                ['Prompt tokens', (row) => whole(row.prompt_tokens), 'number'],
                ['Cached tokens', (row) => whole(row.cached_tokens), 'number'],
                ['Completion tokens', (row) => whole(row.completion_tokens), 'number'],
                ['Cost', (row) => <Cost row={row} />, 'number'],
                ['Refused calls', (row) => whole(row.refused_calls), 'number'],
                ['Unanswered calls', ({ unanswered }) => whole(unanswered.calls), 'number'],
                ['Unanswered cost', ({ unanswered }) => money(unanswered.cost), 'number'],
              ]}
            />
            {next !== null && <p className="quiet">Only the first {ROWS_MAX} are shown; the file has all.</p>}
          </>
        )
      }
    </Answer>
  );
}

const Cost = ({ row: { cost, unpriced_calls: unpriced } }: { readonly row: UsageRow }) => (
  <>
    {money(cost)}
    {unpriced > 0 && <span className="quiet"> ({whole(unpriced)} calls without a price)</span>}
  </>
);

const HOLDS = ['holds'];

/** Who is held because of far more use than is usual; nothing where nobody is. */
function Holds() {
  const { data } = useQuery({
    queryKey: HOLDS,
    queryFn: ({ signal }) => api.send('GET /v1/holds', {}, { signal }),
    enabled: may(useWho(), 'admin'),
  });
  const held = data?.results.filter(({ state }) => state === 'held') ?? [];
  if (held.length === 0) return null;
  return (
    <section className="card">
      <h2>Holds</h2>
      <p className="quiet">
        These used many times the usual daily amount. Their batches wait until the next day (UTC); nothing is lost.
      </p>
      <Table
        name="Holds"
        rows={held}
        keyOf={({ id }) => id}
        columns={[
          ['User, app or key', ({ kind, of }) => `${kind} ${of}`],
          ['Used', ({ used, measure }) => `${whole(used)} ${measure}`, 'number'],
          ['Limit', ({ limit }) => whole(limit), 'number'],
          ['Since', ({ held_at: at }) => <Moment iso={at} />],
          ['', ({ id }) => <Release id={id} />],
        ]}
      />
    </section>
  );
}

const Release = ({ id }: { readonly id: string }) => (
  <Action run={() => api.send('POST /v1/holds/{id}/release', { params: { id } })} touches={[HOLDS]}>
    Release
  </Action>
);

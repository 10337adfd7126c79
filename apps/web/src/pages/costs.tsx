import type { Operations, UsageRow } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api } from '../api.ts';
import { Choice, Select, useFilters } from '../ui/filters.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Wide } from '../ui/wide.tsx';
import { Holds } from './holds.tsx';

const Bars = lazy(async () => ({ default: (await import('../ui/bars.tsx')).Bars }));

const DAY_MS = 86_400_000;
const PERIODS = { week: 'Last 7 days', month: 'Last 35 days' } as const;
const DAYS = { week: 7, month: 35 } as const satisfies Record<keyof typeof PERIODS, number>;
const MEASURES = { tokens: 'Tokens', cost: 'Cost' } as const;
const GROUPS = {
  ...{ step: 'Step', model: 'Model', cause: 'Cause' },
  ...{ user: 'User', app: 'App', key: 'Key' },
} as const;
type Group = keyof typeof GROUPS;

const CAUSES = ['live', 'retry', 'repair', 'summary', 'graph', 'what-if', 'suite', 'recall', 'preview'] as const;

/** What model calls used and cost, by day and by what they were for. */
export function Costs() {
  const [period, setPeriod] = useState<keyof typeof PERIODS>('week');
  const [measure, setMeasure] = useState<keyof typeof MEASURES>('tokens');
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
        <Select name="Cause" value={chosen.cause} options={CAUSES} choose={(cause) => choose({ cause })} />
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

const DAY = new Intl.DateTimeFormat('en', { weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC' });

interface Sums {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost: number;
}

const MEASURED: Readonly<Record<keyof typeof MEASURES, (sums: Sums) => number>> = {
  tokens: (sums) => sums.prompt_tokens + sums.completion_tokens,
  cost: ({ cost }) => cost,
};

interface ByDay {
  readonly asked: Asked;
  readonly times: readonly number[];
  readonly measure: keyof typeof MEASURES;
}

/** What was answered, and apart from it what was not. */
function Days({ asked, times, measure }: ByDay) {
  const { data, error, refetch } = useUsage({ ...asked, group_by: 'day' });
  if (data === undefined) return error === null ? <Loading /> : <Problem error={error} retry={refetch} />;
  const rows = new Map(data.results.map((row) => [Date.parse(row.day ?? ''), row]));
  const values = (of: (row: UsageRow) => Sums) =>
    times.map((time) => {
      const row = rows.get(time);
      return row === undefined ? 0 : MEASURED[measure](of(row));
    });
  return (
    <section className="card">
      <h2>{MEASURES[measure]} by day (UTC)</h2>
      <Suspense fallback={<Loading />}>
        <Bars
          name={`${MEASURES[measure]} of model calls by day`}
          times={times}
          utc
          timeText={(time) => DAY.format(time)}
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
  const { data, error, refetch } = useUsage(query);
  if (data === undefined) return error === null ? <Loading /> : <Problem error={error} retry={refetch} />;
  if (data.results.length === 0) return <Empty>No model was called in this period.</Empty>;
  const given = Object.entries({ ...query, format: 'csv' }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return (
    <>
      <div className="row heading">
        <h2>By {GROUPS[group].toLowerCase()}</h2>
        <a href={`/v1/usage?${new URLSearchParams(given)}`} download="usage.csv">
          Download CSV
        </a>
      </div>
      <Wide name={`Model calls by ${GROUPS[group].toLowerCase()}`} card>
        <table>
          <thead>
            <tr>
              {[
                GROUPS[group],
                'Calls',
                'Prompt tokens',
                'Cached tokens',
                'Completion tokens',
                'Cost',
                'Refused calls',
                'Unanswered calls',
                'Unanswered cost',
              ].map((name, i) => (
                <th key={name} scope="col" className={i === 0 ? undefined : 'number'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.results.map((row) => (
              <Line key={String(row[FIELDS[group]])} name={row[FIELDS[group]] ?? 'none'} row={row} />
            ))}
          </tbody>
        </table>
      </Wide>
      {data.next_cursor !== null && <p className="quiet">Only the first {ROWS_MAX} are shown; the file has all.</p>}
    </>
  );
}

const whole = (value: number): string => value.toLocaleString('en');
const money = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 });

const Line = ({ name, row }: { readonly name: string; readonly row: UsageRow }) => (
  <tr>
    <td>{name}</td>
    <td className="number">{whole(row.calls)}</td>
    <td className="number">{whole(row.prompt_tokens)}</td>
    <td className="number">{whole(row.cached_tokens)}</td>
    <td className="number">{whole(row.completion_tokens)}</td>
    <td className="number">
      {money(row.cost)}
      {row.unpriced_calls > 0 && <span className="quiet"> ({whole(row.unpriced_calls)} calls without a price)</span>}
    </td>
    <td className="number">{whole(row.refused_calls)}</td>
    <td className="number">{whole(row.unanswered.calls)}</td>
    <td className="number">{money(row.unanswered.cost)}</td>
  </tr>
);

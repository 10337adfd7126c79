import type { Operations } from '@slowwave/sdk';
import { useState } from 'react';
import { Bars } from '../ui/bars.tsx';
import { DAY_MS, MEASURES, type Measure, measured, money, utcDay, whole } from '../ui/figures.tsx';
import { Choice } from '../ui/filters.tsx';

type Overview = Operations['GET /v1/overview']['answer'];
type Used = Overview['usage'][number];

interface Shown {
  readonly overview: Overview;
  readonly period: 'day' | 'week';
}

/** What happened over time, and what it cost. */
export function Charts({ overview, period }: Shown) {
  return (
    <div className="beside">
      <section className="card">
        <h2>Batches by hour of acceptance</h2>
        <Batches overview={overview} period={period} />
      </section>
      <Use overview={overview} />
    </div>
  );
}

const HOUR = new Intl.DateTimeFormat('en', { weekday: 'short', hour: '2-digit', minute: '2-digit', hour12: false });
function Batches({ overview: { history } }: Shown) {
  const { hours } = history;
  const values = (count: (hour: (typeof hours)[number]) => number) => hours.map(count);
  return (
    <Bars
      name="Batches by hour of acceptance and by state"
      times={hours.map(({ at }) => Date.parse(at))}
      timeText={(at) => HOUR.format(at)}
      parts={[
        { name: 'Consolidated', color: '--good', values: values((hour) => hour.consolidated + hour.empty) },
        { name: 'Being consolidated', color: '--act', values: values((hour) => hour.consolidating) },
        { name: 'Waiting', color: '--wait', values: values((hour) => hour.pending) },
        { name: 'Parked', color: '--bad', values: values((hour) => hour.parked) },
        { name: 'Undone', color: '--quiet', values: values((hour) => hour.undone) },
      ]}
    />
  );
}

const DAYS = 7;
const COLORS = ['--act', '--good', '--wait', '--quiet'] as const;

/** What models used, day by day and by what they were asked for, against what a day may use. */
function Use({ overview }: Pick<Shown, 'overview'>) {
  const [measure, setMeasure] = useState<Measure>('tokens');
  return (
    <section className="card">
      <div className="row heading">
        <h2>{MEASURES[measure]} by day (UTC)</h2>
        <Choice name="Measure" options={MEASURES} chosen={measure} choose={setMeasure} />
      </div>
      <Days overview={overview} measure={measure} />
      <Spent overview={overview} />
    </section>
  );
}

function Days({
  overview: { at, usage, today: spent },
  measure,
}: Pick<Shown, 'overview'> & { readonly measure: Measure }) {
  const today = Date.parse(at) - (Date.parse(at) % DAY_MS);
  const times = Array.from({ length: DAYS }, (_, i) => today - (DAYS - 1 - i) * DAY_MS);
  const sumOf = (used: readonly Used[]): number => used.reduce((sum, one) => sum + measured(one, measure), 0);
  const steps = largestSteps(usage, sumOf);
  const named = (step: string): string => (steps.includes(step) ? step : 'others');
  const names = [...steps, ...(usage.some(({ step }) => !steps.includes(step)) ? ['others'] : [])];
  const values = (name: string) =>
    times.map((time) => sumOf(usage.filter(({ day, step }) => Date.parse(day) === time && named(step) === name)));
  return (
    <Bars
      name={`${MEASURES[measure]} of models by day and step`}
      limit={spent[measure].limit}
      times={times}
      utc
      timeText={utcDay}
      parts={names.map((name, i) => ({ name, color: COLORS[i] ?? '--quiet', values: values(name) }))}
    />
  );
}

/** Those that used most; the others are shown together. */
function largestSteps(usage: readonly Used[], sumOf: (used: readonly Used[]) => number): string[] {
  const sums = [...Map.groupBy(usage, ({ step }) => step)].map(([step, used]) => ({ step, sum: sumOf(used) }));
  const sorted = sums.sort((a, b) => b.sum - a.sum).map(({ step }) => step);
  return sorted.slice(0, COLORS.length - 1);
}

/** Today's use against its limits, and the calls of all days that are shown. */
function Spent({ overview: { today, usage } }: Pick<Shown, 'overview'>) {
  const calls = usage.reduce((sum, one) => sum + one.calls, 0);
  const failed = usage.reduce((sum, one) => sum + one.failed_calls, 0);
  const cost = usage.reduce((sum, one) => sum + one.cost, 0);
  return (
    <dl className="pairs">
      <dt>Today</dt>
      <dd>
        {against(today.tokens, whole)} tokens; cost {against(today.cost, money)}
      </dd>
      <dt>Last 7 days</dt>
      <dd>
        {whole(calls)} calls, {whole(failed)} failed; cost {money(cost)}
      </dd>
    </dl>
  );
}

const against = ({ used, limit }: Overview['today']['tokens'], text: (value: number) => string): string =>
  limit === null ? text(used) : `${text(used)} of ${text(limit)}`;

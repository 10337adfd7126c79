import type { Operations } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Redirect } from 'wouter';
import { api, mayChange } from '../api.ts';
import { useWho } from '../session.ts';
import { Choice } from '../ui/filters.tsx';
import { firstOffered } from '../ui/frame.tsx';
import { live } from '../ui/reading.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { lasting } from '../ui/time.tsx';
import { Drift } from './overview/drift.tsx';
import { Needs } from './overview/needs.tsx';

/** The charts are the larger part of this page, and the last to be looked at. */
const Charts = lazy(async () => ({ default: (await import('./overview/charts.tsx')).Charts }));

/** How often the figures are read again while somebody looks. */
const EVERY_MS = 5_000;

const PERIODS = { day: 'Last 24 hours', week: 'Last 7 days' } as const;
type Period = keyof typeof PERIODS;

/** How everything is doing, and first of all what needs somebody. Whoever may not see that begins with what they may. */
export function Overview() {
  const who = useWho();
  const first = firstOffered(who);
  if (!mayChange(who) && first !== null) return <Redirect to={first} replace />;
  return (
    <>
      <h1>Overview</h1>
      {mayChange(who) ? (
        <Whole />
      ) : (
        <Empty>
          Your key has no access to the console. See <a href="/docs/">the API reference</a> for what it can do.
        </Empty>
      )}
    </>
  );
}

function Whole() {
  const [period, setPeriod] = useState<Period>('day');
  const { data, error, refetch } = useQuery({
    queryKey: ['overview', period],
    queryFn: ({ signal }) => api.send('GET /v1/overview', { query: { period } }, { signal }),
    placeholderData: keepPreviousData,
    ...live(EVERY_MS),
  });
  if (data === undefined) return error === null ? <Loading /> : <Problem error={error} retry={refetch} />;
  return (
    <>
      {error !== null && <Problem error={error} retry={refetch} />}
      <Needs overview={data} />
      <Choice name="Period" options={PERIODS} chosen={period} choose={setPeriod} />
      <Figures overview={data} />
      <Suspense fallback={<Loading />}>
        <Charts overview={data} period={period} />
      </Suspense>
      <Drift />
    </>
  );
}

type Seen = Operations['GET /v1/overview']['answer'];

function Figures({ overview }: { readonly overview: Seen }) {
  const { at, batches, history, freshness, answers, oldest_due_at: due } = overview;
  const done = history.hours.reduce((sum, hour) => sum + hour.consolidated + hour.empty, 0);
  const accepted = history.hours.reduce((sum, { at: _, ...states }) => sum + sumOf(Object.values(states)), 0);
  return (
    <div className="grid figures">
      <Figure name="Accepted" value={accepted.toLocaleString('en')} />
      <Figure name="Waiting" value={batches.pending.toLocaleString('en')} />
      <Figure name="Oldest due" value={due === null ? '–' : lasting(Math.max(0, Date.parse(at) - Date.parse(due)))} />
      <Figure name="Being consolidated" value={batches.consolidating.toLocaleString('en')} />
      <Figure name="Consolidated" value={done.toLocaleString('en')} />
      <Figure name="Parked" value={batches.parked.toLocaleString('en')} />
      <Figure
        name={`Median until searchable${freshness.p95_ms === null ? '' : `; 95% within ${lasting(freshness.p95_ms)}`}`}
        value={freshness.p50_ms === null ? '–' : lasting(freshness.p50_ms)}
      />
      <Figure
        name={`Answers (search ${answers.search}, context ${answers.context}, recall ${answers.recall})`}
        value={(answers.search + answers.context + answers.recall).toLocaleString('en')}
      />
    </div>
  );
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <section className="card">
    <span className="figure">{value}</span>
    <span className="quiet">{name}</span>
  </section>
);

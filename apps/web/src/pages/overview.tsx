import type { Operations } from '@slowwave/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, Redirect } from 'wouter';
import { api, may, mayChange, useWho } from '../api.ts';
import { agoOf, counted, lasting, percent, sumOf, whole } from '../ui/figures.tsx';
import { Choice } from '../ui/filters.tsx';
import { firstOffered } from '../ui/frame.tsx';
import { Table } from '../ui/lists.tsx';
import { Answer, Empty, Loading, live } from '../ui/reading.tsx';

/** The charts are the larger part of this page, and the last to be looked at. */
const Charts = lazy(async () => ({ default: (await import('./overview-charts.tsx')).Charts }));

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
  const overview = useQuery({
    queryKey: ['overview', period],
    queryFn: ({ signal }) => api.send('GET /v1/overview', { query: { period } }, { signal }),
    placeholderData: keepPreviousData,
    ...live(EVERY_MS),
  });
  return (
    <Answer of={overview}>
      {(seen) => (
        <>
          <Needs overview={seen} />
          <Choice name="Period" options={PERIODS} chosen={period} choose={setPeriod} />
          <Figures overview={seen} />
          <Suspense fallback={<Loading />}>
            <Charts overview={seen} period={period} />
          </Suspense>
          <Drift />
        </>
      )}
    </Answer>
  );
}

type Seen = Operations['GET /v1/overview']['answer'];

function Figures({ overview }: { readonly overview: Seen }) {
  const { at, batches, history, freshness, answers, oldest_due_at: due } = overview;
  const done = history.hours.reduce((sum, hour) => sum + hour.consolidated + hour.empty, 0);
  const accepted = history.hours.reduce((sum, { at: _, ...states }) => sum + sumOf(Object.values(states)), 0);
  return (
    <div className="grid figures">
      <Figure name="Accepted" value={whole(accepted)} />
      <Figure name="Waiting" value={whole(batches.pending)} />
      <Figure name="Oldest due" value={due === null ? '–' : lasting(Math.max(0, Date.parse(at) - Date.parse(due)))} />
      <Figure name="Being consolidated" value={whole(batches.consolidating)} />
      <Figure name="Consolidated" value={whole(done)} />
      <Figure name="Parked" value={whole(batches.parked)} />
      <Figure
        name={`Median until searchable${freshness.p95_ms === null ? '' : `; 95% within ${lasting(freshness.p95_ms)}`}`}
        value={freshness.p50_ms === null ? '–' : lasting(freshness.p50_ms)}
      />
      <Figure
        name={`Answers (search ${answers.search}, context ${answers.context}, recall ${answers.recall})`}
        value={whole(answers.search + answers.context + answers.recall)}
      />
    </div>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <section className="card">
    <span className="figure">{value}</span>
    <span className="quiet">{name}</span>
  </section>
);

/** Something that somebody should look at, and where. */
interface Need {
  readonly tone: 'bad' | 'wait';
  readonly what: string;
  /** More of it, in the words of the server. */
  readonly detail?: string;
  readonly to: string;
}

const MODELS_EVERY_MS = 15_000;
const DOCTOR_EVERY_MS = 60_000;

/** What needs somebody, each leading to where it is mended. */
function Needs({ overview }: { readonly overview: Seen }) {
  const found = [...modelNeeds(useModels()), ...workNeeds(overview), ...doctorNeeds(useDoctor())];
  return (
    <section className="card needs" aria-label="Needs attention">
      {found.length === 0 ? (
        <p>
          <span className="tag good">all clear</span> Nothing needs your attention.
        </p>
      ) : (
        <ul className="plain">
          {found.map(({ tone, what, detail, to }) => (
            <li key={what}>
              <span className={`tag ${tone}`}>{tone === 'bad' ? 'problem' : 'notice'}</span>{' '}
              <Link href={to}>{what}</Link>
              {detail !== undefined && <span className="quiet"> {detail}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The models and the doctor are the operator's. */
function useModels() {
  const enabled = may(useWho(), 'operator');
  const queryFn = ({ signal }: { signal: AbortSignal }) => api.send('GET /v1/models', {}, { signal });
  return useQuery({ queryKey: ['models'], queryFn, enabled, ...live(MODELS_EVERY_MS) }).data?.results ?? [];
}

function useDoctor() {
  const enabled = may(useWho(), 'operator');
  const queryFn = ({ signal }: { signal: AbortSignal }) =>
    api.send('GET /v1/doctor', { query: { depth: 'quick' } }, { signal });
  return useQuery({ queryKey: ['doctor', 'quick'], queryFn, enabled, ...live(DOCTOR_EVERY_MS) }).data?.findings ?? [];
}

const modelNeeds = (models: Operations['GET /v1/models']['answer']['results']): Need[] =>
  models.flatMap(({ model, last_call: last, paused_until: paused }) =>
    last?.problem == null
      ? []
      : [
          {
            tone: 'bad',
            what: paused === null ? `${model} fails` : `${model} keeps failing, and calls to it are paused`,
            detail: last.problem.message,
            to: '/settings/models',
          } as const,
        ],
  );

/** What is due waits for a worker; a worker takes it within seconds. */
const LATE_MS = 120_000;

function workNeeds({
  at,
  oldest_due_at: due,
  parked,
  reviews_waiting: reviews,
  today,
  economy,
  batches,
}: Seen): Need[] {
  const now = Date.parse(at);
  const isLate = due !== null && now - Date.parse(due) > LATE_MS;
  const spent = [today.tokens, today.cost].some(({ used, limit }) => limit !== null && used >= limit);
  return [
    ...parked.map(
      ({ code, batches: count }): Need => ({
        tone: 'bad',
        what: `${counted(count, 'batch is', 'batches are')} parked`,
        detail: `(${code})`,
        to: '/work',
      }),
    ),
    ...(spent
      ? [
          {
            tone: 'bad',
            what: 'The daily limit is reached',
            detail: 'Batches wait until the next day (UTC) or until you raise the limit.',
            to: '/settings/budgets',
          } as const,
        ]
      : []),
    ...(spent ? [] : savingNeeds(economy)),
    ...(isLate
      ? [
          {
            tone: 'wait',
            what: counted(batches.pending + batches.consolidating, 'batch waits', 'batches wait'),
            detail: `The oldest was due ${agoOf(Date.parse(due), now)}.`,
            to: '/work',
          } as const,
        ]
      : []),
    ...(reviews === 0
      ? []
      : [
          {
            tone: 'wait',
            what: `${counted(reviews, 'change waits', 'changes wait')} for review`,
            to: '/reviews',
          } as const,
        ]),
  ];
}

const SAVED: Readonly<Partial<Record<Seen['economy']['saves'], string>>> = {
  larger_batches: 'Batches are larger and wait longer.',
  cheaper_models: 'Batches are larger, and cheaper models are used.',
  no_summary_no_graph: 'Batches are larger, cheaper models are used, and summaries and the graph wait.',
};

const savingNeeds = ({ saves }: Seen['economy']): Need[] => {
  const { [saves]: detail } = SAVED;
  return detail === undefined
    ? []
    : [{ tone: 'wait', what: 'Most of the daily budget is used', detail, to: '/settings/budgets' }];
};

const doctorNeeds = (findings: Operations['GET /v1/doctor']['answer']['findings']): Need[] =>
  // Parked batches and failing models are named above, with their reasons.
  findings
    .filter(({ check }) => check !== 'parked' && check !== 'models')
    .map(({ severity, what }) => ({ tone: severity === 'error' ? 'bad' : 'wait', what, to: '/settings/health' }));

type Drifting = Operations['GET /v1/drift']['answer'];
type DriftFigure = Drifting['figures'][number];

const OPINIONS: Readonly<Record<Drifting['opinions'][number]['of'], string>> = {
  consolidations: 'Undone consolidations',
  reviews: 'Rejected reviews',
  ratings: 'Negative ratings',
  outcomes: 'Bad outcomes',
};

const TONES = { fine: 'good', worse: 'bad', unclear: 'quiet' } as const;

/** How consolidations went in the last seven days, against the 28 before. */
function Drift() {
  const [model, setModel] = useState<string>('');
  const drift = useQuery({
    queryKey: ['drift', model],
    queryFn: ({ signal }) => api.send('GET /v1/drift', { query: model === '' ? {} : { model } }, { signal }),
  });
  return (
    <section aria-label="Drift">
      <h2>Drift</h2>
      <Answer of={drift}>{(now) => <Compared drift={now} model={model} choose={setModel} />}</Answer>
    </section>
  );
}

interface Choosing {
  readonly drift: Drifting;
  readonly model: string;
  readonly choose: (model: string) => void;
}

function Compared({ drift, model, choose }: Choosing) {
  const { figures, opinions, models } = drift;
  const worse = figures.filter(({ verdict }) => verdict === 'worse');
  if (models.length === 0) return <p className="quiet">Nothing was consolidated in the last 35 days.</p>;
  return (
    <>
      <p className="quiet">
        The last 7 days compared with the 28 days before
        {models.length > 1 && (
          <>
            , for{' '}
            <select aria-label="Chat model" value={model} onChange={({ target }) => choose(target.value)}>
              <option value="">all models</option>
              {models.map((one) => (
                <option key={one.model}>{one.model}</option>
              ))}
            </select>
          </>
        )}
        .{' '}
        {worse.length === 0
          ? 'No figure is significantly worse.'
          : `Significantly worse: ${worse.map(({ figure }) => nameOf(figure)).join(', ')}.`}
      </p>
      <div className="grid figures">
        {opinions.map(({ of, before, recent }) => (
          <Figure key={of} name={`${OPINIONS[of]}; before: ${shareOf(before)}`} value={shareOf(recent)} />
        ))}
      </div>
      <details>
        <summary>All figures</summary>
        <Table
          name="Figures of consolidations"
          rows={figures}
          keyOf={({ figure }) => figure}
          columns={[
            ['Figure', ({ figure }) => nameOf(figure)],
            ['Before', (one) => shownValue(one, one.before), 'number'],
            ['Recent', (one) => shownValue(one, one.recent), 'number'],
            ['Verdict', ({ verdict }) => <span className={`tag ${TONES[verdict]}`}>{verdict}</span>],
            ['Meaning', ({ says }) => says, 'quiet'],
          ]}
        />
      </details>
    </>
  );
}

const nameOf = (figure: string): string => figure.replaceAll('_', ' ');

const shareOf = ({ against, of }: Drifting['opinions'][number]['before']): string =>
  of === 0 ? '–' : percent(against / of, 1);

function shownValue({ kind }: DriftFigure, value: number | null): string {
  if (value === null) return '–';
  return kind === 'share' ? percent(value, 1) : value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

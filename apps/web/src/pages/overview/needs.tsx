import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, may } from '../../api.ts';
import { useWho } from '../../session.ts';
import { live } from '../../ui/reading.ts';
import { agoOf } from '../../ui/time.tsx';

type Overview = Operations['GET /v1/overview']['answer'];

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
export function Needs({ overview }: { readonly overview: Overview }) {
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
}: Overview): Need[] {
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
            what: `${counted(batches.pending + batches.consolidating, 'batch waits', 'batches wait')}`,
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

const SAVED: Readonly<Partial<Record<Overview['economy']['saves'], string>>> = {
  larger_batches: 'Batches are larger and wait longer.',
  cheaper_models: 'Batches are larger, and cheaper models are used.',
  no_summary_no_graph: 'Batches are larger, cheaper models are used, and summaries and the graph wait.',
};

const savingNeeds = ({ saves }: Overview['economy']): Need[] => {
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

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

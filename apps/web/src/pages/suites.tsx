import type { SuiteRun } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { api } from '../api.ts';
import { OwnerLink } from '../owner.tsx';
import { Moment, percent, whole } from '../ui/figures.tsx';
import { Pages, Table, usePages } from '../ui/lists.tsx';
import { Answer } from '../ui/reading.tsx';
import { StateTag } from '../ui/standing.tsx';

const EVERY_MS = 3_000;

/** The suites of the tenant. */
export function Suites() {
  const list = usePages({
    queryKey: ['suites'],
    read: (cursor, signal) => api.send('GET /v1/suites', { query: { cursor } }, { signal }),
  });
  return (
    <>
      <h1>Suites</h1>
      <section className="card" aria-label="Suites">
        <p className="quiet">
          Recorded conversations for testing other prompts, settings and models. Record one with{' '}
          <code>slowwave suite record daily</code>.
        </p>
        <Pages of={list} none="There are no suites yet.">
          {(rows) => (
            <ul className="plain">
              {rows.map(({ name, origin, masked, created_at: created }) => (
                <li key={name} className="row">
                  <Link href={`/suites/${name}`}>{name}</Link>
                  <span className="tag">{origin === 'production' ? 'recorded' : 'from a file'}</span>
                  {masked && <span className="tag">masked</span>}
                  <span className="quiet">
                    <Moment iso={created} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Pages>
      </section>
    </>
  );
}

/** One suite with its runs. */
export function SuitePage() {
  const { name = '' } = useParams();
  const suite = useQuery({
    queryKey: ['suites', name],
    queryFn: ({ signal }) => api.suites.get(name, { signal }),
  });
  const runs = usePages({
    queryKey: ['suites', name, 'runs'],
    read: (cursor, signal) =>
      api.send('GET /v1/suites/{name}/runs', { params: { name }, query: { cursor } }, { signal }),
    everyMs: EVERY_MS,
  });
  return (
    <Answer of={suite}>
      {({ estimate }) => (
        <>
          <h1>Suite {name}</h1>
          <section className="card" aria-label="Runs">
            <p className="quiet">
              A run of {estimate.cases} cases takes about {whole(estimate.calls)} calls and {whole(estimate.tokens)} ±{' '}
              {whole(estimate.spread)} tokens.
            </p>
            <Pages of={runs} none="This suite has not been run yet.">
              {(rows) => (
                <ul className="plain">
                  {rows.map((run) => (
                    <li key={run.id} className="row">
                      <Link href={`/suites/${name}/${run.id}`}>{changesText(run.changes)}</Link>
                      <Outcome run={run} />
                      <span className="quiet">
                        <Moment iso={run.created_at} />
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </Pages>
          </section>
        </>
      )}
    </Answer>
  );
}

/** The report of a run. */
export function SuiteRunPage() {
  const { name = '', id = '' } = useParams();
  const run = useQuery({
    queryKey: ['suites', name, 'runs', id],
    queryFn: ({ signal }) => api.suites.getRun(name, id, { signal }) as Promise<SuiteRun>,
    refetchInterval: ({ state: { data } }) => data?.passed === null && data.error === null && EVERY_MS,
  });
  return (
    <Answer of={run}>
      {(now) => (
        <>
          <h1>Run of {name}</h1>
          <section className="card" aria-label="Run">
            <div className="row">
              <Outcome run={now} />
              <span>{changesText(now.changes)}</span>
              <span className="push row">
                {now.report !== null && <Link href={`/suites/${name}/${id}/assess`}>Assess</Link>}
                <Link href={`/suites/${name}`}>All runs</Link>
              </span>
            </div>
            <p className="quiet">
              {now.batches.done} of {now.batches.total} batches; {whole(now.spent_tokens)} of {whole(now.budget_tokens)}{' '}
              tokens.
            </p>
            {now.error !== null && <p className="problem">{now.error.message}</p>}
          </section>
          {now.report !== null && <Report report={now.report} />}
        </>
      )}
    </Answer>
  );
}

type ReportOf = NonNullable<SuiteRun['report']>;
type Figure = ReportOf['figures'][number];

function changesText(changes: unknown): string {
  const all = Object.entries((changes ?? {}) as Record<string, unknown>);
  if (all.length === 0) return 'No changes';
  return all.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : '…'}`).join(', ');
}

function Outcome({ run }: { readonly run: Pick<SuiteRun, 'passed' | 'state'> }) {
  if (run.passed === null) return <StateTag state={run.state} />;
  return run.passed ? <span className="tag good">passed</span> : <span className="tag bad">blocked</span>;
}

const ORDER = ['worse', 'unclear', 'fine', 'shown'];
const TAGS: Readonly<Record<Figure['verdict'], string>> = {
  worse: 'tag bad',
  unclear: 'tag wait',
  fine: 'tag good',
  shown: 'tag',
};

function Report({ report }: { readonly report: ReportOf }) {
  const figures = report.figures.toSorted((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  return (
    <>
      <Table
        name="Figures"
        card
        rows={figures}
        keyOf={({ figure, language }) => `${figure} ${language}`}
        columns={[
          ['Figure', (figure) => <Named of={figure} />, 'name'],
          ['', ({ verdict }) => <span className={TAGS[verdict]}>{verdict}</span>],
          [
            report.baseline_run === null ? 'Stored results' : 'Without changes',
            ({ baseline }) => numberText(baseline),
            'number',
          ],
          ['This run', ({ interval, variant }) => spanText(interval) ?? numberText(variant), 'number'],
          ['Difference', ({ difference }) => spanText(difference) ?? 'too few cases', 'number'],
          ['Margin', marginText, 'number'],
        ]}
      />
      {report.lost > 0 && <Lost report={report} />}
    </>
  );
}

const Named = ({ of: { figure, language, says } }: { readonly of: Figure }) => (
  <span title={says}>
    {figure.replaceAll('_', ' ')}
    {language !== null && ` (${language})`}
  </span>
);

const Lost = ({ report }: { readonly report: ReportOf }) => (
  <section className="card" aria-label="Lost facts">
    <h2>Lost facts</h2>
    <ul className="plain">
      {report.lost_facts.map((fact) => (
        <li key={`${fact.user_id} ${fact.agent_id} ${fact.run_id} ${fact.text}`}>
          <span className="quiet">
            <OwnerLink of={fact} />
          </span>{' '}
          {fact.text}
        </li>
      ))}
    </ul>
    {report.lost_facts.length < report.lost && (
      <p className="quiet">
        The first {report.lost_facts.length} of {report.lost} are shown.
      </p>
    )}
  </section>
);

const LARGE = 100;
const numberText = (value: number | null): string =>
  value === null ? '–' : Math.abs(value) >= LARGE ? whole(Math.round(value)) : value.toFixed(3);

const spanText = (interval: Figure['interval']): string | null =>
  interval && `${numberText(interval.value)} (${numberText(interval.low)} … ${numberText(interval.high)})`;

const marginText = ({ margin }: Figure): string =>
  margin === null ? '–' : margin.relative === true ? percent(margin.by) : numberText(margin.by);

import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { Moment, whole } from '../../ui/figures.tsx';
import { Table } from '../../ui/lists.tsx';
import { Answer, Empty } from '../../ui/reading.tsx';

/** How the models and the data of the installation are doing, and what to do about what is wrong. */
export const Health = ({ of }: { readonly of: 'models' | 'doctor' }) => (of === 'models' ? <Models /> : <Doctor />);

function Models() {
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) => api.send('GET /v1/models', {}, { signal }),
  });
  return (
    <Answer of={models}>
      {({ results }) =>
        results.length === 0 ? (
          <Empty>
            No model server is configured. Builtin rules are used instead of a model, for trials only. Set
            OPENAI_API_KEY or OPENAI_BASE_URL and restart the server.
          </Empty>
        ) : (
          results.map((model, i) => <OneModel key={`${model.use} ${model.model} ${i}`} of={model} />)
        )
      }
    </Answer>
  );
}

type Model = Operations['GET /v1/models']['answer']['results'][number];

function OneModel({ of }: { readonly of: Model }) {
  const { use, model, findings, last_call: last, paused_until: paused, steps } = of;
  return (
    <section className="card" aria-label={model}>
      <h2>
        {model} <span className="tag">{use}</span> {last === null && <span className="tag">not called yet</span>}
        {last !== null && (
          <span className={`tag ${last.problem === null ? 'good' : 'bad'}`}>{last.problem?.code ?? 'responding'}</span>
        )}{' '}
        {paused !== null && (
          <span className="tag wait">
            paused, next attempt <Moment iso={paused} />
          </span>
        )}
      </h2>
      {steps.length > 0 && <p>{steps.map(stepText).join(', ')}</p>}
      {last !== null && (
        <p>
          {last.problem?.message ?? 'The last call succeeded'} <Moment iso={last.at} />
        </p>
      )}
      {findings.length > 0 && (
        <ul>
          {findings.map(({ at, what, remedy }) => (
            <li key={`${at} ${what}`}>
              {what}
              {remedy !== null && <>. {remedy}</>}{' '}
              <span className="quiet">
                <Moment iso={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const stepText = ({ step, place, asked }: Model['steps'][number]): string =>
  place === 1
    ? `${step}${asked ? '' : ' (not used now)'}`
    : `fallback ${place - 1} of ${step}${asked ? ' (used now)' : ''}`;

const BYTES_OF_MB = 1_000_000;

function Doctor() {
  const doctor = useQuery({
    queryKey: ['doctor', 'usual'],
    queryFn: ({ signal }) => api.send('GET /v1/doctor', { query: { depth: 'usual' } }, { signal }),
    // It reads samples of everything.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { isFetching, refetch } = doctor;
  return (
    <Answer of={doctor} meanwhile="Checking samples of all data …">
      {(found) => <Checked found={found} again={isFetching ? null : () => void refetch()} />}
    </Answer>
  );
}

interface Found {
  readonly found: Operations['GET /v1/doctor']['answer'];
  /** null: it is being checked again. */
  readonly again: (() => void) | null;
}

function Checked({ found: data, again }: Found) {
  const { last_backup: backup } = data;
  return (
    <>
      <p>
        <span className={`tag ${data.healthy ? 'good' : 'bad'}`}>{data.healthy ? 'healthy' : 'errors'}</span> Checked{' '}
        <Moment iso={data.at} />{' '}
        <button type="button" disabled={again === null} onClick={() => again?.()}>
          Check again
        </button>
      </p>
      {data.findings.map(({ check, severity, what, examples, remedy }) => (
        <section key={`${check} ${what}`} className="card">
          <h2>
            <span className={`tag ${severity === 'error' ? 'bad' : 'wait'}`}>{severity}</span> {what}
          </h2>
          <p>{remedy}</p>
          {examples.length > 0 && <p className="quiet">For example: {examples.join(', ')}</p>}
        </section>
      ))}
      <section className="card" aria-label="Backup">
        <h2>Backup</h2>
        {backup === null ? (
          <p>
            There is no backup of this ledger. Run <code>slowwave backup FOLDER</code> to make one; servers can keep
            running.
          </p>
        ) : (
          <p>
            Last backup: <Moment iso={backup.at} />, {(backup.bytes / BYTES_OF_MB).toFixed(1)} MB.
          </p>
        )}
        <p className="quiet">
          To export the data of one user, open <Link href="/users">their page</Link>.
        </p>
      </section>
      <Table
        name="Checks"
        card
        rows={data.checks}
        keyOf={({ check }) => check}
        columns={[
          ['Check', ({ check }) => check],
          ['Checked', ({ looked }) => whole(looked), 'number'],
          ['Findings', ({ findings }) => findings, 'number'],
        ]}
      />
    </>
  );
}

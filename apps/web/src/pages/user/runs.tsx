import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { api, isOfAllApps, may } from '../../api.ts';
import type { Owner } from '../../owner.ts';
import { useWho } from '../../session.ts';
import { Problem } from '../../ui/states.tsx';
import { Wide } from '../../ui/wide.tsx';

type Run = Operations['GET /v1/runs/{id}/state']['answer'];

const SHOWN = 20;

/** What runs of an owner work on; nothing where none has a state. */
export function Runs({ owner: { kind, id } }: { readonly owner: Owner }) {
  const who = useWho();
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', kind, id],
    queryFn: ({ signal }) => api.send('GET /v1/runs', { query: { [`${kind}_id`]: id, limit: SHOWN } }, { signal }),
    enabled: may(who, 'search') && isOfAllApps(who),
  });
  if (error !== null) return <Problem error={error} retry={refetch} />;
  if (data === undefined || data.results.length === 0) return null;
  return (
    <details className="card" aria-label="Runs">
      <summary>{data.results.length === 1 ? 'One run' : `${data.results.length} runs`} with a state</summary>
      {data.results.map((run) => (
        <OneRun key={run.run_id} run={run} />
      ))}
    </details>
  );
}

function OneRun({ run }: { readonly run: Run }) {
  return (
    <section aria-label={`Run ${run.run_id}`}>
      <h3>
        {run.run_id} <span className="quiet">version {run.version}</span>{' '}
        {run.ended_at !== null && <span className="tag">ended</span>}
        {run.waiting_for_approval.length > 0 && <span className="tag wait">waiting for approval</span>}
      </h3>
      {run.goal !== null && <p>{run.goal}</p>}
      {run.steps.length > 0 && (
        <Wide name={`Steps of ${run.run_id}`}>
          <table>
            <thead>
              <tr>
                <th>Step</th>
                <th>State</th>
                <th>Result</th>
              </tr>
            </thead>
            <tbody>
              {run.steps.map((step) => (
                <tr key={step.id}>
                  <td>{step.title}</td>
                  <td>{step.state.replaceAll('_', ' ')}</td>
                  <td>{step.result}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </section>
  );
}

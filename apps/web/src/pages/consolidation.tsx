import type { Batch, Consolidation } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useParams } from 'wouter';
import { api, may } from '../api.ts';
import { useWho } from '../session.ts';
import { Owner } from '../ui/links.tsx';
import { StateTag } from '../ui/standing.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { Decisions, Messages } from './consolidation/story.tsx';
import { Answers, Times, Usage } from './consolidation/thinking.tsx';
import { Redo, Undo } from './consolidation/undoing.tsx';
import { canBeTried, WhatIf } from './consolidation/what-if.tsx';

/** As long as it is not over. */
const EVERY_MS = 2_000;
const OPEN: readonly Consolidation['state'][] = ['thinking', 'planned', 'waiting'];

/** What was read, found, compared and decided, and what to do about it. */
export function ConsolidationPage() {
  const { id = '' } = useParams();
  const consolidation = useQuery({
    queryKey: ['consolidation', id],
    queryFn: ({ signal }) =>
      api.send('GET /v1/consolidations/{id}', { params: { id }, query: { include: 'messages' } }, { signal }),
    refetchInterval: ({ state: { data } }) => data !== undefined && OPEN.includes(data.state) && EVERY_MS,
  });
  return (
    <>
      <h1>Consolidation</h1>
      <Answer of={consolidation}>{(now) => <Whole consolidation={now} />}</Answer>
    </>
  );
}

function Whole({ consolidation }: { readonly consolidation: Consolidation }) {
  const { batch_ids: batchIds, messages = [], plan, answers, removed_at: removed } = consolidation;
  const [batchId = ''] = batchIds;
  const batch = useQuery({
    queryKey: ['batch', batchId],
    queryFn: ({ signal }) => api.batches.get(batchId, { signal }),
    enabled: may(useWho(), 'ingest'),
  });
  return (
    <>
      <Head consolidation={consolidation} />
      {batch.data !== undefined && batch.data.failures.length > 0 && <Failures failures={batch.data.failures} />}
      <Messages plan={plan} messages={messages} />
      {plan !== null && <Decisions plan={plan} />}
      {plan === null && (
        <Empty>
          {removed === null ? 'Nothing has been decided yet.' : 'Retention removed the plan of this consolidation.'}
        </Empty>
      )}
      <Times consolidation={consolidation} plan={plan} batch={batch.data} />
      {plan !== null && <Usage plan={plan} />}
      <Answers id={consolidation.id} answers={answers} />
    </>
  );
}

/** The last attempts that failed, also those before a replay. */
const Failures = ({ failures }: Pick<Batch, 'failures'>) => (
  <details className="card">
    <summary>{failures.length === 1 ? 'One attempt' : `${failures.length} attempts`} failed</summary>
    <ul>
      {failures.map(({ code, message, at }) => (
        <li key={at}>
          <code>{code}</code> <Moment iso={at} />: {message}
        </li>
      ))}
    </ul>
  </details>
);

type Opened = 'undo' | 'redo' | 'what-if' | null;

/** Whose it is, how it stands, and what can be done about it. */
function Head({ consolidation }: { readonly consolidation: Consolidation }) {
  const { id, state, attempts, error, created_at: created, applied_at: applied } = consolidation;
  const who = useWho();
  const [opened, open] = useState<Opened>(null);
  const close = () => open(null);
  const undo = useUndoOf(consolidation);
  return (
    <section className="card">
      <div className="row">
        <StateTag state={state} />
        <span>
          of <Owner of={consolidation} />
        </span>
        <span className="quiet">
          started <Moment iso={created} />
          {applied !== null && (
            <>
              , applied <Moment iso={applied} />
            </>
          )}
          {attempts > 0 && `, ${attempts} failed ${attempts === 1 ? 'attempt' : 'attempts'}`}
        </span>
        <span className="push row">
          {state === 'applied' && (
            <button type="button" className="danger" onClick={() => open('undo')}>
              Undo …
            </button>
          )}
          {undo !== undefined && (
            <button type="button" onClick={() => open('redo')}>
              Redo …
            </button>
          )}
          {canBeTried(consolidation) && may(who, 'admin') && (
            <button type="button" onClick={() => open('what-if')}>
              What if …
            </button>
          )}
        </span>
      </div>
      {error !== null && (
        <p className="problem">
          <code>{error.code}</code> {error.message}
        </p>
      )}
      {opened === 'undo' && <Undo id={id} close={close} />}
      {opened === 'redo' && undo !== undefined && <Redo id={undo} close={close} />}
      {opened === 'what-if' && <WhatIf consolidation={consolidation} close={close} />}
    </section>
  );
}

/** The newest undo or rollback that took it back; undefined: none did, or a redo took that back. */
function useUndoOf({ id, state, user_id: user }: Consolidation): string | undefined {
  const undos = useQuery({
    queryKey: ['undos', user],
    queryFn: ({ signal }) => api.send('GET /v1/undos', { query: user === null ? {} : { user_id: user } }, { signal }),
    enabled: state === 'undone',
  });
  if (state !== 'undone') return undefined;
  return undos.data?.results.find(({ kind, consolidation_ids: ids }) => kind !== 'redo' && ids.includes(id))?.id;
}

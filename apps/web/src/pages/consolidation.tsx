import type { Batch, Consolidation, UndoReport } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api, may, useWho } from '../api.ts';
import { OwnerLink } from '../owner.tsx';
import { Diff } from '../ui/diff.tsx';
import { Moment } from '../ui/figures.tsx';
import { Confirm, FormDialog, Line, LongText, Opens, Select } from '../ui/forms.tsx';
import { Answer, Empty } from '../ui/reading.tsx';
import { StateTag } from '../ui/standing.tsx';
import { Decisions, Messages } from './consolidation/story.tsx';
import { Answers, Times, Usage } from './consolidation/thinking.tsx';

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

/** Whose it is, how it stands, and what can be done about it. */
function Head({ consolidation }: { readonly consolidation: Consolidation }) {
  const { id, state, attempts, error, created_at: created, applied_at: applied } = consolidation;
  const who = useWho();
  const undo = useUndoOf(consolidation);
  return (
    <section className="card">
      <div className="row">
        <StateTag state={state} />
        <span>
          of <OwnerLink of={consolidation} />
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
            <Opens kind="danger" window={(close) => <Undo id={id} close={close} />}>
              Undo …
            </Opens>
          )}
          {undo !== undefined && <Opens window={(close) => <Redo id={undo} close={close} />}>Redo …</Opens>}
          {canBeTried(consolidation) && may(who, 'admin') && (
            <Opens window={(close) => <WhatIf consolidation={consolidation} close={close} />}>What if …</Opens>
          )}
        </span>
      </div>
      {error !== null && (
        <p className="problem">
          <code>{error.code}</code> {error.message}
        </p>
      )}
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

interface Opened {
  readonly id: string;
  readonly close: () => void;
}

/** What is read again after memories were taken back or brought back. */
const TOUCHED = [['consolidation'], ['consolidations'], ['undos'], ['memory']];

/** What falls with a consolidation, before it falls. */
function Undo({ id, close }: Opened) {
  const fall = useQuery({
    queryKey: ['consolidation', id, 'undo'],
    queryFn: ({ signal }) => api.consolidations.undo(id, { dry_run: true, cascade: true }, { signal }),
    staleTime: 0,
  });
  return (
    <Confirm
      title="Undo this consolidation?"
      submit="Undo"
      close={close}
      disabled={fall.data === undefined}
      run={() => api.consolidations.undo(id, { cascade: (fall.data?.dependents.length ?? 0) > 0 })}
      touches={TOUCHED}
    >
      <Answer of={fall}>
        {(report) => (
          <>
            <Dependents report={report} />
            <Memories report={report} />
            <p className="quiet">Its batches are kept and can be replayed. An undo can be redone.</p>
          </>
        )}
      </Answer>
    </Confirm>
  );
}

/** What comes back with an undone consolidation, before it comes back. */
function Redo({ id, close }: Opened) {
  const back = useQuery({
    queryKey: ['undos', id, 'redo'],
    queryFn: ({ signal }) =>
      api.send('POST /v1/undos/{id}/redo', { params: { id }, body: { dry_run: true } }, { signal }),
    staleTime: 0,
  });
  return (
    <Confirm
      title="Redo what was undone?"
      submit="Redo"
      close={close}
      disabled={back.data === undefined}
      run={() => api.consolidations.redo(id)}
      touches={TOUCHED}
    >
      <Answer of={back}>{(report) => <Memories report={report} />}</Answer>
    </Confirm>
  );
}

const Dependents = ({ report: { dependents } }: { readonly report: UndoReport }) =>
  dependents.length === 0 ? (
    <p>No later changes depend on it.</p>
  ) : (
    <>
      <p>
        <strong>These later changes depend on it and will be undone as well:</strong>
      </p>
      <ul>
        {dependents.map(({ kind, id, memory_ids: ids }) => (
          <li key={id}>
            {kind === 'consolidation' ? (
              <Link href={`/consolidations/${id}`}>a consolidation</Link>
            ) : (
              'an explicit write'
            )}
            , {ids.length === 1 ? 'on one memory' : `on ${ids.length} memories`}
          </li>
        ))}
      </ul>
    </>
  );

const Memories = ({ report: { memories, changed } }: { readonly report: UndoReport }) => (
  <>
    <p>{changed === 1 ? 'One memory changes:' : `${changed} memories change:`}</p>
    <ul className="plain">
      {memories.map(({ id, before, after }) => (
        <li key={id}>
          <Diff from={before} to={after} />
        </li>
      ))}
    </ul>
    {memories.length < changed && <p className="quiet">The first {memories.length} are shown.</p>}
  </>
);

interface Trying {
  readonly consolidation: Consolidation;
  readonly close: () => void;
}

/** What can be tried otherwise: what is over, whatever came of it. */
const STATES = { applied: undefined, parked: 'parked', undone: 'undone' } as const;

const canBeTried = ({ state }: Consolidation): boolean => Object.hasOwn(STATES, state);

const MODES = {
  '': 'as posted',
  decide: 'decide: compare with known memories',
  add_only: 'add_only: keep every fact',
} as const;
type Mode = keyof typeof MODES;

/** What would have been remembered with something else: in a shadow space, which life knows nothing of. */
function WhatIf({ consolidation: { batch_ids: batchIds, state }, close }: Trying) {
  const [, go] = useLocation();
  const [model, setModel] = useState<string | null>(null);
  const [mode, setMode] = useState<Mode>('');
  const [instructions, setInstructions] = useState<string | null>(null);
  const start = () =>
    api.replays.start({
      filter: { batch_ids: [...batchIds], state: STATES[state as keyof typeof STATES] },
      shadow: true,
      ...(model !== null && { model: model.trim() }),
      ...(mode !== '' && { mode }),
      ...(instructions !== null && { instructions: instructions.trim() }),
    });
  return (
    <FormDialog
      title="What if …"
      submit="Try it"
      close={close}
      run={start}
      touches={[['replays']]}
      done={(replay) => 'id' in replay && go(`/work/replays/${replay.id}`)}
    >
      <p>The same messages are consolidated again in a shadow space. Live memories are not changed.</p>
      <Line name="Model" empty="the configured one" value={model} change={setModel} />
      <Select name="Mode" options={MODES} value={mode} change={setMode} />
      <LongText name="Instructions" empty="those in the settings" value={instructions} change={setInstructions} />
    </FormDialog>
  );
}

import type { UndoReport } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Diff } from '../../ui/diff.tsx';
import { Answer } from '../../ui/states.tsx';

interface Opened {
  readonly id: string;
  readonly close: () => void;
}

/** What is read again after memories were taken back or brought back. */
const TOUCHED = [['consolidation'], ['consolidations'], ['undos'], ['memory']];

/** What falls with a consolidation, before it falls. */
export function Undo({ id, close }: Opened) {
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
export function Redo({ id, close }: Opened) {
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

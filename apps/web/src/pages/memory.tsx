import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useParams } from 'wouter';
import { api, may } from '../api.ts';
import { useWho } from '../session.ts';
import { Action, ActionForm } from '../ui/action.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Diff } from '../ui/diff.tsx';
import { Answer } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';

type Memory = Operations['GET /v1/memories/{id}']['answer'];

/** One memory: what it says, and how it came to say that. */
export function MemoryPage() {
  const { id = '' } = useParams();
  const memory = useQuery({ queryKey: ['memory', id], queryFn: ({ signal }) => api.memories.get(id, { signal }) });
  return (
    <>
      <h1>Memory</h1>
      <Answer of={memory}>{(now) => <Now memory={now} />}</Answer>
      <Versions id={id} />
    </>
  );
}

function Now({ memory }: { readonly memory: Memory }) {
  const { id, memory: text, pinned = false, updated_at: at } = memory;
  const mayWrite = may(useWho(), 'manage');
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  return (
    <section className="card">
      <p className="text">{text}</p>
      <div className="row">
        {pinned && <span className="tag good">pinned</span>}
        <span className="quiet">
          changed <Moment iso={at} />
        </span>
        {mayWrite && (
          <>
            <button type="button" onClick={() => setEditing(true)}>
              Edit …
            </button>
            <Action run={() => api.memories.update(id, { pinned: !pinned })} touches={[['memory', id]]}>
              {pinned ? 'Unpin' : 'Pin'}
            </Action>
            <button type="button" className="danger" onClick={() => setDeleting(true)}>
              Delete …
            </button>
          </>
        )}
      </div>
      {editing && <Edit memory={memory} close={() => setEditing(false)} />}
      {deleting && <Deletion id={id} close={() => setDeleting(false)} />}
    </section>
  );
}

interface Opened {
  readonly memory: Memory;
  readonly close: () => void;
}

/** A new text, which becomes a new version. */
function Edit({ memory: { id, memory: before, version }, close }: Opened) {
  const [text, setText] = useState(before);
  const field = useId();
  return (
    <Dialog title="Change what it says" close={close}>
      <ActionForm
        submit="Save"
        cancel={close}
        disabled={text.trim() === '' || text === before}
        run={() => api.memories.update(id, { memory: text, version })}
        touches={[['memory', id]]}
        done={close}
      >
        <div>
          <label htmlFor={field}>Text</label>
          <textarea id={field} rows={4} value={text} onChange={({ target }) => setText(target.value)} />
        </div>
      </ActionForm>
    </Dialog>
  );
}

/** What falls with it, before it falls. */
function Deletion({ id, close }: { readonly id: string; readonly close: () => void }) {
  const fall = useQuery({
    queryKey: ['memory', id, 'fall'],
    queryFn: ({ signal }) => api.memories.delete(id, { dry_run: 'true' }, { signal }),
  });
  return (
    <Confirm
      title="Delete this memory?"
      submit="Delete"
      close={close}
      disabled={fall.data === undefined}
      run={() => api.memories.delete(id)}
      touches={[['memory', id]]}
    >
      <Answer of={fall}>
        {({ fell }) => (
          <p>
            With it, words in {fell.messages.length} messages and {fell.relations.length} relations can no longer be
            found. Restoring the memory brings them back.
          </p>
        )}
      </Answer>
    </Confirm>
  );
}

/** What was said before, and what each change changed. */
function Versions({ id }: { readonly id: string }) {
  const history = useQuery({
    queryKey: ['memory', id, 'history'],
    queryFn: ({ signal }) => api.memories.history(id, { signal }),
  });
  return (
    <section className="card">
      <h2>Versions</h2>
      <Answer of={history}>
        {({ results }) =>
          results.toReversed().map(({ id: event, event: what, previous, memory, created_at: at }) => (
            <article key={event}>
              <div className="row">
                <span className="tag">{what}</span>
                <Moment iso={at} />
              </div>
              <Diff from={previous} to={memory} />
            </article>
          ))
        }
      </Answer>
    </section>
  );
}

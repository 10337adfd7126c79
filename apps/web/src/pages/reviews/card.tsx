import type { Review } from '@slowwave/sdk';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { Action, ActionForm } from '../../ui/action.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Diff } from '../../ui/diff.tsx';
import { Decision, Owner } from '../../ui/links.tsx';
import { Moment } from '../../ui/time.tsx';

interface Shown {
  readonly review: Review;
  readonly picked?: boolean;
  readonly pick?: (id: string, isPicked: boolean) => void;
}

const LOOKS: Readonly<Record<Review['event'], string>> = { ADD: 'good', UPDATE: 'wait', DELETE: 'bad' };

/** What is read again after a decision. */
const TOUCHED = [['reviews']];

/** What would change, and why; with its buttons as long as it waits. */
export function ReviewCard({ review, picked = false, pick }: Shown) {
  const { id, state, event, before, after, reason, fact, forgotten, note, consolidation_id: why } = review;
  const title = useId();
  return (
    <article className="card" tabIndex={-1} aria-labelledby={title}>
      <div className="row" id={title}>
        {pick !== undefined && (
          <input
            type="checkbox"
            aria-label={`Select: ${after ?? before ?? id}`}
            checked={picked}
            onChange={({ target }) => pick(id, target.checked)}
          />
        )}
        <span className={`tag ${LOOKS[event]}`}>{event}</span>
        <Owner of={review} />
        <span className="quiet">
          said <Moment iso={review.said_at} />
        </span>
      </div>
      {forgotten === true ? <p className="quiet">The memory is forgotten.</p> : <Diff from={before} to={after} />}
      <p>{reason}</p>
      {fact?.quote != null && <blockquote>{fact.quote}</blockquote>}
      {note !== null && <p className="quiet">{note}</p>}
      <div className="row">
        {state === 'pending' && <Decisions review={review} />}
        {why !== null && <Decision id={why}>Why</Decision>}
        {review.memory_id !== null && <Link href={`/memories/${review.memory_id}`}>Memory</Link>}
      </div>
    </article>
  );
}

function Decisions({ review }: { readonly review: Review }) {
  const [editing, setEditing] = useState(false);
  const { id, event } = review;
  return (
    <>
      <Action kind="main" shortcut="a" run={() => api.reviews.settle(id, { decision: 'approve' })} touches={TOUCHED}>
        Approve
      </Action>
      {event !== 'DELETE' && (
        <button type="button" data-key="e" aria-keyshortcuts="e" onClick={() => setEditing(true)}>
          Edit …
        </button>
      )}
      <Action kind="danger" shortcut="r" run={() => api.reviews.settle(id, { decision: 'reject' })} touches={TOUCHED}>
        Reject
      </Action>
      {editing && <Edit review={review} close={() => setEditing(false)} />}
    </>
  );
}

function Edit({ review: { id, after }, close }: { readonly review: Review; readonly close: () => void }) {
  const [text, setText] = useState(after ?? '');
  const field = useId();
  return (
    <Dialog title="Edit and approve" close={close}>
      <ActionForm
        submit="Approve"
        cancel={close}
        disabled={text.trim() === ''}
        run={() => api.reviews.settle(id, { decision: 'approve', memory: text })}
        touches={TOUCHED}
        done={close}
      >
        <div>
          <label htmlFor={field}>What to remember</label>
          <textarea id={field} rows={4} value={text} onChange={({ target }) => setText(target.value)} />
        </div>
      </ActionForm>
    </Dialog>
  );
}

import type { ForgottenMemory, Memory } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Link } from 'wouter';
import { api, may, mayCorrect } from '../../api.ts';
import { touchedBy } from '../../owner.ts';
import { useWho } from '../../session.ts';
import { Action, ActionForm } from '../../ui/action.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Answer } from '../../ui/states.tsx';

const RATINGS = { positive: 'Good', negative: 'Bad', very_negative: 'Very bad' } as const;

/** What somebody may do with a memory: say what it says, keep it, rate it, delete it. */
export function Changes({ memory }: { readonly memory: Memory }) {
  const who = useWho();
  const [doing, setDoing] = useState<'edit' | 'delete' | null>(null);
  const { id, pinned = false, feedback = null, version } = memory;
  const touches = touchedBy(id);
  const close = () => setDoing(null);
  return (
    <>
      {may(who, 'manage') && (
        <fieldset className="row choice" aria-label="Rating">
          <span className="quiet">Rate:</span>
          {(Object.keys(RATINGS) as (keyof typeof RATINGS)[]).map((rating) => (
            <Action
              key={rating}
              pressed={feedback === rating}
              run={() => api.memories.feedback(id, { rating: feedback === rating ? 'none' : rating, version })}
              touches={touches}
            >
              {RATINGS[rating]}
            </Action>
          ))}
        </fieldset>
      )}
      {mayCorrect(who) && (
        <div className="row">
          <button type="button" onClick={() => setDoing('edit')}>
            Edit …
          </button>
          <Action run={() => api.memories.update(id, { pinned: !pinned })} touches={touches}>
            {pinned ? 'Unpin' : 'Pin'}
          </Action>
          <button type="button" className="danger" onClick={() => setDoing('delete')}>
            Delete …
          </button>
        </div>
      )}
      {doing === 'edit' && <Edit memory={memory} close={close} />}
      {doing === 'delete' && <Deletion id={id} close={close} />}
    </>
  );
}

interface Editing {
  readonly memory: Memory;
  readonly close: () => void;
}

/** A new text, which becomes a new version; refused where somebody else changed it meanwhile. */
function Edit({ memory: { id, memory: before, version }, close }: Editing) {
  const [text, setText] = useState(before);
  const field = useId();
  return (
    <Dialog title="Edit memory" close={close}>
      <ActionForm
        submit="Save"
        cancel={close}
        disabled={text.trim() === '' || text === before}
        run={() => api.memories.update(id, { memory: text, version })}
        touches={touchedBy(id)}
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

interface Deleting {
  readonly id: string;
  readonly close: () => void;
}

/** Shows what falls with it before it falls. */
function Deletion({ id, close }: Deleting) {
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
      touches={touchedBy(id)}
    >
      <p>It can no longer be found or used in answers. You can restore any of its versions.</p>
      <Answer of={fall}>{(what) => <Falling what={what} />}</Answer>
    </Confirm>
  );
}

function Falling({ what: { fell, stays } }: { readonly what: ForgottenMemory }) {
  const [whole, words] = [
    fell.messages.filter(({ hidden }) => hidden === 'all').length,
    fell.messages.filter(({ hidden }) => hidden === 'words').length,
  ];
  const lines = [
    whole > 0 && `${counted(whole, 'message is', 'messages are')} hidden completely`,
    words > 0 && `the words that say it are hidden in ${counted(words, 'message', 'messages')}`,
    fell.summaries > 0 && `${counted(fell.summaries, 'summary is', 'summaries are')} rewritten`,
    ...fell.relations.map(({ text }) => `the relation “${text}” is removed`),
    ...fell.entities.map(({ name }) => `${name} is removed from the graph`),
    ...stays.relations.map(({ text }) => `the relation “${text}” stays, because it was also said elsewhere`),
  ].filter((line) => line !== false);
  const others = [...new Set(stays.messages.flatMap(({ memory_ids: ids }) => ids))];
  return (
    <>
      <p>{lines.length === 0 ? 'Nothing else changes.' : 'What else changes:'}</p>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {others.length > 0 && (
        <p className="quiet">
          The rest of these messages stays because of{' '}
          {others.map((other, i) => (
            <span key={other}>
              {i > 0 && ', '}
              <Link href={`/memories/${other}`}>another memory</Link>
            </span>
          ))}
          .
        </p>
      )}
    </>
  );
}

const counted = (count: number, one: string, more: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : more}`;

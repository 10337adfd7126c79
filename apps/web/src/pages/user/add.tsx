import { useId, useState } from 'react';
import { api } from '../../api.ts';
import { type Owner, useIds } from '../../owner.ts';
import { ActionForm } from '../../ui/action.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** Writes a memory as it is typed, without a model. */
export function AddMemory({ owner }: { readonly owner: Owner }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="main" onClick={() => setOpen(true)}>
        Add a memory …
      </button>
      {isOpen && <Fields owner={owner} close={() => setOpen(false)} />}
    </>
  );
}

function Fields({ owner, close }: { readonly owner: Owner; readonly close: () => void }) {
  const ids = useIds(owner);
  const [text, setText] = useState('');
  const [category, setCategory] = useState('');
  const [pinned, setPinned] = useState(false);
  const [textField, categoryField] = [useId(), useId()];
  const categories = category.trim() === '' ? undefined : [category.trim()];
  return (
    <Dialog title="Add a memory" close={close}>
      <ActionForm
        submit="Add"
        cancel={close}
        disabled={text.trim() === ''}
        run={() => api.memories.add({ ...ids, memory: text.trim(), categories, pinned })}
        touches={[['owner', owner.kind, owner.id], ['users']]}
        done={close}
      >
        <div>
          <label htmlFor={textField}>What to remember</label>
          <textarea id={textField} rows={3} value={text} onChange={({ target }) => setText(target.value)} />
          <p className="quiet">A complete sentence that makes sense on its own, such as “Ana is allergic to nuts”.</p>
        </div>
        <div>
          <label htmlFor={categoryField}>Category (optional)</label>
          <input id={categoryField} value={category} onChange={({ target }) => setCategory(target.value)} />
        </div>
        <label className="row plainly">
          <input type="checkbox" checked={pinned} onChange={({ target }) => setPinned(target.checked)} />
          Pin it: it is never forgotten automatically, and comes first in the profile
        </label>
      </ActionForm>
    </Dialog>
  );
}

import type { ForgottenMemory, Memory } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../ui/action.tsx';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { LongText } from '../ui/fields.tsx';
import { Answer } from '../ui/states.tsx';
import { useOwn } from './coming.ts';
import { counted, plainly } from './plainly.ts';

/** What every change makes the page read again. */
export const SHOWN = ['own'] as const;

interface Changing {
  readonly memory: Memory;
  readonly close: () => void;
}

/** A new text in the place of the old one; refused if it has changed meanwhile. */
export function Correct({ memory: { id, memory: before, version }, close }: Changing) {
  const { api } = useOwn();
  const [text, setText] = useState<string | null>(before);
  return (
    <Dialog title="Correct this memory" close={close}>
      <ActionForm
        submit="Save"
        cancel={close}
        disabled={text === null || text === before}
        run={() => plainly(api.memories.update(id, { memory: text ?? before, version }))}
        touches={[SHOWN]}
        done={close}
      >
        <LongText name="What should it say?" value={text} change={setText} rows={4} />
      </ActionForm>
    </Dialog>
  );
}

/** Shows what goes with it before it goes. */
export function Forget({ memory: { id, memory: text }, close, done }: Changing & { readonly done: () => void }) {
  const { api } = useOwn();
  const fall = useQuery({
    // Not read again with the rest: there is nothing left that could fall.
    queryKey: ['fall', id],
    queryFn: ({ signal }) => plainly(api.memories.delete(id, { dry_run: 'true' }, { signal })),
  });
  return (
    <Confirm
      title="Forget this?"
      submit="Forget"
      close={close}
      disabled={fall.data === undefined}
      run={() => plainly(api.memories.delete(id))}
      touches={[SHOWN]}
      done={done}
    >
      <blockquote className="text">{text}</blockquote>
      <p>It will no longer be used or shown.</p>
      <Answer of={fall}>{(what) => <Falling what={what} />}</Answer>
    </Confirm>
  );
}

function Falling({ what: { fell, stays } }: { readonly what: ForgottenMemory }) {
  const [whole, words] = (['all', 'words'] as const).map(
    (hidden) => fell.messages.filter((message) => message.hidden === hidden).length,
  );
  const lines = [
    whole !== undefined &&
      whole > 0 &&
      `${counted(whole, 'message that says it is', 'messages that say it are')} hidden`,
    words !== undefined && words > 0 && `the words that say it are hidden in ${counted(words, 'message', 'messages')}`,
    fell.summaries > 0 && 'the summary of your conversation is rewritten without it',
    ...fell.relations.map(({ text }) => `“${text}” is forgotten`),
    ...fell.entities.map(({ name }) => `${name} is no longer known`),
    ...stays.relations.map(({ text }) => `“${text}” stays, because you also said it elsewhere`),
  ].filter((line) => typeof line === 'string');
  if (lines.length === 0) return <p>Nothing else changes.</p>;
  return (
    <>
      <p>What else changes:</p>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}

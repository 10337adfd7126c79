import type { Consolidation } from '@slowwave/sdk';
import { useId, useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import { ActionForm } from '../../ui/action.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface Opened {
  readonly consolidation: Consolidation;
  readonly close: () => void;
}

/** What can be tried otherwise: what is over, whatever came of it. */
const STATES = { applied: undefined, parked: 'parked', undone: 'undone' } as const;

export const canBeTried = ({ state }: Consolidation): boolean => Object.hasOwn(STATES, state);

type Mode = '' | 'decide' | 'add_only';

/** What would have been remembered with something else: in a shadow space, which life knows nothing of. */
export function WhatIf({ consolidation: { batch_ids: batchIds, state }, close }: Opened) {
  const [, go] = useLocation();
  const [model, setModel] = useState('');
  const [mode, setMode] = useState<Mode>('');
  const [instructions, setInstructions] = useState('');
  const id = useId();
  const start = () =>
    api.replays.start({
      filter: { batch_ids: [...batchIds], state: STATES[state as keyof typeof STATES] },
      shadow: true,
      ...(model.trim() !== '' && { model: model.trim() }),
      ...(mode !== '' && { mode }),
      ...(instructions.trim() !== '' && { instructions: instructions.trim() }),
    });
  return (
    <Dialog title="What if …" close={close}>
      <ActionForm
        submit="Try it"
        cancel={close}
        run={start}
        touches={[['replays']]}
        done={(replay) => 'id' in replay && go(`/work/replays/${replay.id}`)}
      >
        <p>The same messages are consolidated again in a shadow space. Live memories are not changed.</p>
        <div>
          <label htmlFor={`${id}-model`}>Model</label>
          <input
            id={`${id}-model`}
            value={model}
            placeholder="the configured one"
            spellCheck={false}
            onChange={({ target }) => setModel(target.value)}
          />
        </div>
        <div>
          <label htmlFor={`${id}-mode`}>Mode</label>
          <select id={`${id}-mode`} value={mode} onChange={({ target }) => setMode(target.value as Mode)}>
            <option value="">as posted</option>
            <option value="decide">decide: compare with known memories</option>
            <option value="add_only">add_only: keep every fact</option>
          </select>
        </div>
        <div>
          <label htmlFor={`${id}-instructions`}>Instructions</label>
          <textarea
            id={`${id}-instructions`}
            rows={3}
            value={instructions}
            placeholder="those in the settings"
            onChange={({ target }) => setInstructions(target.value)}
          />
        </div>
      </ActionForm>
    </Dialog>
  );
}

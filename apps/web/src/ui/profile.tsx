import type { Profile as Filled, Slowwave } from '@slowwave/sdk';
import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Action, ActionForm } from './action.tsx';
import { Dialog } from './dialog.tsx';
import { Answer, Empty } from './states.tsx';

type Slot = Filled['slots'][number];

interface Whose {
  readonly api: Slowwave;
  readonly userId: string;
  readonly mayChange: boolean;
  /** Where the page keeps what it reads of the user: all of it is read again after a change. */
  readonly shown: QueryKey;
  /** How the page tells people what went wrong. */
  readonly plainly: <T>(answer: Promise<T>) => Promise<T>;
}

/** Errors as the API has them. */
export const asItIs = <T,>(answer: Promise<T>): Promise<T> => answer;

/** What the profile says of a user, slot by slot; read once somebody wants to see it. */
export function ProfileCard({ title, ...whose }: Whose & { readonly title: string }) {
  const [isOpen, setOpen] = useState(false);
  const { api, userId, shown, plainly } = whose;
  const profile = useQuery({
    queryKey: [...shown, 'profile'],
    queryFn: ({ signal }) => plainly(api.users.profile(userId, { signal })),
    enabled: isOpen,
  });
  return (
    <details className="card" aria-label={title} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <Answer of={profile}>{({ slots }) => <Slots slots={slots} whose={whose} />}</Answer>}
    </details>
  );
}

function Slots({ slots, whose }: { readonly slots: readonly Slot[]; readonly whose: Whose }) {
  const filled = slots.filter(({ lines }) => lines.length > 0);
  return (
    <>
      {filled.length === 0 && <Empty>The profile is empty.</Empty>}
      {filled.map((slot) => (
        <section key={slot.name} aria-label={nameOf(slot)}>
          <h3>
            {nameOf(slot)} {slot.left_out > 0 && <span className="quiet">{slot.left_out} more left out</span>}
          </h3>
          <ul className="plain">
            {slot.lines.map((line) => (
              <Line key={line.memory_id} slot={slot} line={line} whose={whose} />
            ))}
          </ul>
        </section>
      ))}
      {whose.mayChange && <PutLine slots={slots} whose={whose} />}
    </>
  );
}

const nameOf = ({ name }: Pick<Slot, 'name'>): string => name.replaceAll('_', ' ');

const BY = { person: 'added by a person', night: 'added by a night', rule: null } as const;

interface OneLine {
  readonly slot: Slot;
  readonly line: Slot['lines'][number];
  readonly whose: Whose;
}

function Line({ slot: { name }, line: { memory, memory_id, by }, whose }: OneLine) {
  const { api, userId, mayChange, shown, plainly } = whose;
  return (
    <li className="row">
      <span className="text">{memory}</span>
      {BY[by] !== null && <span className="tag">{BY[by]}</span>}
      {mayChange && (
        <Action
          kind="danger"
          run={() => plainly(api.users.deleteProfileLine(userId, { slot: name, memory_id }))}
          touches={[shown]}
        >
          Remove from profile
        </Action>
      )}
    </li>
  );
}

/** A line in the person's own words. */
function PutLine({ slots, whose }: { readonly slots: readonly Slot[]; readonly whose: Whose }) {
  const { api, userId, shown, plainly } = whose;
  const [isOpen, setOpen] = useState(false);
  const own = slots.filter(({ name }) => name !== 'other');
  const [slot, setSlot] = useState(own[0]?.name ?? '');
  const [memory, setMemory] = useState('');
  const [slotField, textField] = [useId(), useId()];
  const close = () => setOpen(false);
  if (own.length === 0) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Add a line …
      </button>
      {isOpen && (
        <Dialog title="Add a line to the profile" close={close}>
          <ActionForm
            submit="Add"
            cancel={close}
            disabled={memory.trim() === ''}
            run={() => plainly(api.users.putProfileLine(userId, { slot, memory: memory.trim() }))}
            touches={[shown]}
            done={close}
          >
            <div>
              <label htmlFor={slotField}>Slot</label>
              <select id={slotField} value={slot} onChange={({ target }) => setSlot(target.value)}>
                {own.map((one) => (
                  <option key={one.name} value={one.name}>
                    {nameOf(one)}: {one.about}
                  </option>
                ))}
              </select>
            </div>
            <div>
              <label htmlFor={textField}>Text</label>
              <textarea id={textField} rows={2} value={memory} onChange={({ target }) => setMemory(target.value)} />
            </div>
          </ActionForm>
        </Dialog>
      )}
    </>
  );
}

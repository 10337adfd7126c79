import type { Profile as Filled, Slowwave } from '@slowwave/sdk';
import { type QueryKey, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Action, FormDialog, LongText, Opens, Select } from './forms.tsx';
import { Answer, Empty } from './reading.tsx';

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
  const own = slots.filter(({ name }) => name !== 'other');
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
      {whose.mayChange && own.length > 0 && (
        <Opens window={(close) => <PutLine slots={own} whose={whose} close={close} />}>Add a line …</Opens>
      )}
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
function PutLine({
  slots,
  whose,
  close,
}: {
  readonly slots: readonly Slot[];
  readonly whose: Whose;
  readonly close: () => void;
}) {
  const { api, userId, shown, plainly } = whose;
  const [slot, setSlot] = useState(slots[0]?.name ?? '');
  const [memory, setMemory] = useState<string | null>(null);
  return (
    <FormDialog
      title="Add a line to the profile"
      submit="Add"
      close={close}
      disabled={memory === null}
      run={() => plainly(api.users.putProfileLine(userId, { slot, memory: memory?.trim() ?? '' }))}
      touches={[shown]}
    >
      <Select
        name="Slot"
        options={Object.fromEntries(slots.map((one) => [one.name, `${nameOf(one)}: ${one.about}`]))}
        value={slot}
        change={setSlot}
      />
      <LongText name="Text" rows={2} value={memory} change={setMemory} />
    </FormDialog>
  );
}

type Lines = ReturnType<Slowwave['users']['export']>;

/** Saves all data of a user as a file, one JSON object a line, once all of it has arrived. */
export async function saveExport(exported: Lines, name: string): Promise<void> {
  const lines: string[] = [];
  let isWhole = false;
  for await (const line of exported) {
    lines.push(`${JSON.stringify(line)}\n`);
    isWhole = line.type === 'end';
  }
  if (!isWhole) throw new Error('the export is incomplete; try again');
  const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: `${name}.ndjson` });
  link.click();
  URL.revokeObjectURL(address);
}

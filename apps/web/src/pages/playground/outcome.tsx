import type { Batch, BatchEvent } from '@slowwave/sdk';
import { Decision } from '../../ui/links.tsx';
import { Problem } from '../../ui/states.tsx';
import type { Line } from './conversation.ts';

/** What became of a message, as far as it is known. */
export function Outcome({ line: { batch, error } }: { readonly line: Line }) {
  if (error !== null) return <Problem error={error} />;
  if (batch === null) return <p className="quiet">Sending …</p>;
  return (
    <div className="outcome">
      <p className="quiet">
        {sentenceOf(batch)} {batch.consolidation_id !== null && <Decision id={batch.consolidation_id}>Why</Decision>}
      </p>
      {batch.events.length > 0 && (
        <ul className="plain">
          {batch.events.map((event) => (
            <Change key={event.id} event={event} />
          ))}
        </ul>
      )}
    </div>
  );
}

const STAGES: Readonly<Record<Batch['stage'], string>> = {
  waiting: 'Stored. Waiting for a worker …',
  extract: 'Looking for facts …',
  decide: 'Comparing with known memories …',
  apply: 'Writing …',
  project: 'Making it searchable …',
  done: 'Done.',
};

function sentenceOf({ state, stage, timings, error }: Batch): string {
  switch (state) {
    case 'pending':
    case 'consolidating':
      return STAGES[stage];
    case 'empty':
      return 'Nothing to remember in it.';
    case 'parked':
      return `It could not be consolidated: ${error?.message ?? 'unknown reason'}`;
    case 'undone':
      return 'It was undone.';
    case 'consolidated':
      return `Consolidated${tookOf(timings)}.`;
  }
}

/** From its arrival to what it changed. */
const tookOf = ({ accepted_at: from, applied_at: to }: Batch['timings']): string =>
  to === null ? '' : ` in ${((Date.parse(to) - Date.parse(from)) / 1_000).toFixed(1)} s`;

const NAMES: Readonly<Record<BatchEvent['event'], readonly [name: string, look: string]>> = {
  ADD: ['remembered', 'tag good'],
  UPDATE: ['changed', 'tag wait'],
  DELETE: ['forgotten', 'tag bad'],
  NONE: ['already known', 'tag'],
  UNDO: ['undone', 'tag'],
};

function Change({ event: { event, memory, previous } }: { readonly event: BatchEvent }) {
  const [name, look] = NAMES[event];
  return (
    <li>
      <span className={look}>{name}</span> {memory} {event === 'UPDATE' && previous !== null && <del>{previous}</del>}
    </li>
  );
}

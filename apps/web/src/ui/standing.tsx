import type { BatchSummary, CanarySummary, ConsolidationSummary, Erasure, NightSummary, Replay } from '@slowwave/sdk';
import { counted, whole } from './figures.tsx';

type State = (ConsolidationSummary | BatchSummary | Replay | Erasure | CanarySummary | NightSummary)['state'];

const LOOKS: Readonly<Partial<Record<State, string>>> = {
  applied: 'good',
  consolidated: 'good',
  done: 'good',
  parked: 'bad',
  failed: 'bad',
  split: 'wait',
  thinking: 'wait',
  planned: 'wait',
  waiting: 'wait',
  consolidating: 'wait',
  preparing: 'wait',
  requested: 'wait',
  erasing: 'wait',
  compacting: 'wait',
  running: 'wait',
  undoing: 'wait',
  halted: 'bad',
  promoted: 'good',
};

/** How something stands, in a word. */
export const StateTag = ({ state }: { readonly state: State }) => (
  <span className={`tag ${LOOKS[state] ?? ''}`}>{state}</span>
);

/** Whether it still changes by itself. */
export const isOpenReplay = ({ state }: Pick<Replay, 'state'>): boolean =>
  state === 'preparing' || state === 'running' || state === 'discarding';

/** How many of its batches are through. */
export function Progress({ replay: { matched, consolidated, parked, waiting } }: { readonly replay: Replay }) {
  const through = consolidated + parked;
  return (
    <p>
      <progress max={Math.max(1, matched)} value={matched === 0 ? 1 : through} aria-label="Finished batches" />{' '}
      {whole(through)} of {counted(matched, 'batch', 'batches')}
      {waiting > 0 && <span className="quiet">, {whole(waiting)} waiting</span>}
      {parked > 0 && <span className="tag bad">{whole(parked)} parked again</span>}
    </p>
  );
}

const EVENTS = { ADD: 'good', UPDATE: 'wait', DELETE: 'bad', NONE: '' } as const;

/** What is done, or would be, to a memory. */
export const EventTag = ({ event }: { readonly event: keyof typeof EVENTS }) => (
  <span className={`tag ${EVENTS[event]}`}>{event}</span>
);

/** Settings that are tried, each in a tag. */
export const Tried = ({ of: changes }: { readonly of: unknown }) =>
  Object.entries((changes ?? {}) as Record<string, unknown>).map(([name, value]) => (
    <span key={name} className="tag">
      {name.replaceAll('_', ' ')}: {typeof value === 'string' ? value : JSON.stringify(value)}
    </span>
  ));

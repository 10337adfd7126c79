import type { BatchSummary, CanarySummary, ConsolidationSummary, Erasure, NightSummary, Replay } from '@slowwave/sdk';

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
      {through.toLocaleString('en')} of {matched.toLocaleString('en')} {matched === 1 ? 'batch' : 'batches'}
      {waiting > 0 && <span className="quiet">, {waiting.toLocaleString('en')} waiting</span>}
      {parked > 0 && <span className="tag bad">{parked.toLocaleString('en')} parked again</span>}
    </p>
  );
}

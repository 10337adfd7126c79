import type { BatchSummary, ConsolidationSummary, Erasure, Replay } from '@slowwave/sdk';

type State = ConsolidationSummary['state'] | BatchSummary['state'] | Replay['state'] | Erasure['state'];

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
};

/** How something stands, in a word. */
export const StateTag = ({ state }: { readonly state: State }) => (
  <span className={`tag ${LOOKS[state] ?? ''}`}>{state}</span>
);

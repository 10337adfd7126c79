import type { Review } from '@slowwave/sdk';
import { useState } from 'react';
import { api, queries } from '../api.ts';
import { Choice, Exact, Filters, useFilters } from '../ui/filters.tsx';
import { Pages, usePages } from '../ui/pages.tsx';
import { Empty, Problem } from '../ui/states.tsx';
import { ReviewCard } from './reviews/card.tsx';
import { useShortcuts } from './reviews/shortcuts.ts';

const STATES: Readonly<Record<Review['state'], string>> = {
  pending: 'Waiting',
  approved: 'Approved',
  rejected: 'Rejected',
  stale: 'Stale',
};
const PAGE = 50;
const EVERY_MS = 5_000;

/** What waits for somebody's word. */
export function Reviews() {
  const { chosen, choose } = useFilters(['state', 'user']);
  const state = (chosen.state ?? 'pending') as Review['state'];
  const list = usePages({
    queryKey: ['reviews', state, chosen.user],
    read: (cursor, signal) =>
      api.send('GET /v1/reviews', { query: { limit: PAGE, cursor, state, user_id: chosen.user } }, { signal }),
    everyMs: EVERY_MS,
  });
  return (
    <>
      <h1>Reviews</h1>
      <Filters>
        <Choice name="State" options={STATES} chosen={state} choose={(next) => choose({ state: next })} />
        <Exact name="User" value={chosen.user} choose={(user) => choose({ user })} />
      </Filters>
      <Pages of={list}>
        {(rows) => {
          if (rows.length === 0) return <None state={state} />;
          return state === 'pending' ? <Waiting rows={rows} /> : <Decided rows={rows} />;
        }}
      </Pages>
    </>
  );
}

const None = ({ state }: { readonly state: Review['state'] }) => (
  <Empty>
    {state === 'pending'
      ? 'No changes are waiting for review. The settings determine which changes require approval.'
      : 'There are no such reviews.'}
  </Empty>
);

interface Rows {
  readonly rows: readonly Review[];
}

const Decided = ({ rows }: Rows) => rows.map((review) => <ReviewCard key={review.id} review={review} />);

/** Those that wait, with keys for each of them and buttons for many. */
function Waiting({ rows }: Rows) {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const { list, isOn, turn } = useShortcuts();
  const pick = (id: string, isPicked: boolean) =>
    setPicked(new Set(isPicked ? [...picked, id] : [...picked].filter((one) => one !== id)));
  const chosen = rows.filter(({ id }) => picked.has(id));
  return (
    <>
      <div className="row hints">
        <label>
          <input type="checkbox" checked={isOn} onChange={({ target }) => turn(target.checked)} /> Keyboard shortcuts
        </label>
        {isOn && (
          <span className="quiet">
            <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>a</kbd> approve, <kbd>e</kbd> edit, <kbd>r</kbd> reject
          </span>
        )}
        <span className="push row">
          <button
            type="button"
            onClick={() => setPicked(new Set(chosen.length < rows.length ? rows.map(({ id }) => id) : []))}
          >
            {chosen.length < rows.length ? 'Select all' : 'Select none'}
          </button>
          <Many rows={chosen} decision="approve" />
          <Many rows={chosen} decision="reject" />
        </span>
      </div>
      <ol className="plain" ref={list}>
        {rows.map((review) => (
          <li key={review.id}>
            <ReviewCard review={review} picked={picked.has(review.id)} pick={pick} />
          </li>
        ))}
      </ol>
    </>
  );
}

const NAMES = { approve: 'Approve', reject: 'Reject' } as const;

/** One call for each, oldest first: what one adds another may delete. */
function Many({ rows, decision }: Rows & { readonly decision: keyof typeof NAMES }) {
  const [left, setLeft] = useState<number | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const decide = async () => {
    setProblem(null);
    for (const [at, { id }] of rows.toReversed().entries()) {
      setLeft(rows.length - at);
      await api.reviews.settle(id, { decision }).catch(setProblem);
    }
    setLeft(null);
    await queries.invalidateQueries({ queryKey: ['reviews'] });
  };
  return (
    <>
      <button type="button" disabled={rows.length === 0 || left !== null} onClick={() => void decide()}>
        {NAMES[decision]} selected ({left ?? rows.length})
      </button>
      {left !== null && <span role="status">{left} left …</span>}
      {problem !== null && <Problem error={problem} />}
    </>
  );
}

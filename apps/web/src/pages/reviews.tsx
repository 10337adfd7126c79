import type { Review } from '@slowwave/sdk';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, queries } from '../api.ts';
import { Decision, OwnerLink } from '../owner.tsx';
import { Diff } from '../ui/diff.tsx';
import { Moment } from '../ui/figures.tsx';
import { Choice, Exact, Filters, useFilters } from '../ui/filters.tsx';
import { Action, FormDialog, LongText, Opens } from '../ui/forms.tsx';
import { Pages, usePages } from '../ui/lists.tsx';
import { Problem } from '../ui/reading.tsx';
import { EventTag } from '../ui/standing.tsx';

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
      <Pages of={list} none={state === 'pending' ? NONE_WAITS : 'There are no such reviews.'}>
        {(rows) => (state === 'pending' ? <Waiting rows={rows} /> : <Decided rows={rows} />)}
      </Pages>
    </>
  );
}

const NONE_WAITS = 'No changes are waiting for review. The settings determine which changes require approval.';

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

interface Shown {
  readonly review: Review;
  readonly picked?: boolean;
  readonly pick?: (id: string, isPicked: boolean) => void;
}

/** What is read again after a decision. */
const TOUCHED = [['reviews']];

/** What would change, and why; with its buttons as long as it waits. */
function ReviewCard({ review, picked = false, pick }: Shown) {
  const { id, state, event, before, after, reason, fact, forgotten, note, consolidation_id: why } = review;
  const title = useId();
  return (
    <article className="card" tabIndex={-1} aria-labelledby={title}>
      <div className="row" id={title}>
        {pick !== undefined && (
          <input
            type="checkbox"
            aria-label={`Select: ${after ?? before ?? id}`}
            checked={picked}
            onChange={({ target }) => pick(id, target.checked)}
          />
        )}
        <EventTag event={event} />
        <OwnerLink of={review} />
        <span className="quiet">
          said <Moment iso={review.said_at} />
        </span>
      </div>
      {forgotten === true ? <p className="quiet">The memory is forgotten.</p> : <Diff from={before} to={after} />}
      <p>{reason}</p>
      {fact?.quote != null && <blockquote>{fact.quote}</blockquote>}
      {note !== null && <p className="quiet">{note}</p>}
      <div className="row">
        {state === 'pending' && <Decisions review={review} />}
        {why !== null && <Decision id={why}>Why</Decision>}
        {review.memory_id !== null && <Link href={`/memories/${review.memory_id}`}>Memory</Link>}
      </div>
    </article>
  );
}

function Decisions({ review }: { readonly review: Review }) {
  const { id, event } = review;
  return (
    <>
      <Action kind="main" shortcut="a" run={() => api.reviews.settle(id, { decision: 'approve' })} touches={TOUCHED}>
        Approve
      </Action>
      {event !== 'DELETE' && (
        <Opens shortcut="e" window={(close) => <Edit review={review} close={close} />}>
          Edit …
        </Opens>
      )}
      <Action kind="danger" shortcut="r" run={() => api.reviews.settle(id, { decision: 'reject' })} touches={TOUCHED}>
        Reject
      </Action>
    </>
  );
}

function Edit({ review: { id, after }, close }: { readonly review: Review; readonly close: () => void }) {
  const [text, setText] = useState(after);
  return (
    <FormDialog
      title="Edit and approve"
      submit="Approve"
      close={close}
      disabled={text === null}
      run={() => api.reviews.settle(id, { decision: 'approve', memory: text ?? '' })}
      touches={TOUCHED}
    >
      <LongText name="What to remember" value={text} change={setText} rows={4} />
    </FormDialog>
  );
}

const MOVES: Readonly<Record<string, number>> = { j: 1, k: -1 };
const KEPT_AS = 'slowwave.keys';

/**
 * Single keys for a list of articles: j and k move the focus between them, others press the buttons of the one that has it, which carry
 * them as `data-key`. They can be switched off, for those whose software types letters, and never count while somebody types or a
 * dialog is open.
 */
function useShortcuts() {
  const [isOn, setOn] = useState(() => localStorage.getItem(KEPT_AS) !== 'off');
  const list = useFocusKept();
  useEffect(() => {
    if (!isOn) return;
    const heard = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      if (moves(event.key, list.current) || presses(event.key, list.current)) event.preventDefault();
    };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [isOn, list]);
  const turn = (on: boolean): void => {
    localStorage.setItem(KEPT_AS, on ? 'on' : 'off');
    setOn(on);
  };
  return { list, isOn, turn };
}

const isBusy = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;

type List = HTMLOListElement | null;

const itemsIn = (list: List): readonly HTMLElement[] => [...(list?.querySelectorAll<HTMLElement>('article') ?? [])];

const focusedIn = (items: readonly HTMLElement[]): number =>
  items.findIndex((item) => item.contains(document.activeElement));

/** What was decided goes, and the focus with it: whoever had it goes on with what took its place. */
function useFocusKept() {
  const list = useRef<HTMLOListElement>(null);
  const held = useRef<{ readonly item: HTMLElement; readonly at: number } | null>(null);
  useEffect(() => {
    const element = list.current;
    const note = (): void => {
      const items = itemsIn(element);
      const at = focusedIn(items);
      const item = items[at];
      if (item !== undefined) held.current = { item, at };
    };
    element?.addEventListener('focusin', note);
    return () => element?.removeEventListener('focusin', note);
  }, []);
  useLayoutEffect(() => {
    const isElsewhere = document.activeElement !== null && document.activeElement !== document.body;
    if (held.current === null || held.current.item.isConnected || isElsewhere) return;
    const items = itemsIn(list.current);
    items[Math.min(held.current.at, items.length - 1)]?.focus();
  });
  return list;
}

function moves(key: string, list: List): boolean {
  const step = MOVES[key];
  const items = itemsIn(list);
  if (step === undefined || items.length === 0) return false;
  items[Math.max(0, Math.min(items.length - 1, focusedIn(items) + step))]?.focus();
  return true;
}

function presses(key: string, list: List): boolean {
  const items = itemsIn(list);
  const button = items[focusedIn(items)]?.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(key)}"]`) ?? null;
  button?.click();
  return button !== null;
}

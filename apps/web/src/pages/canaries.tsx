import type { CanarySummary, PostCanary } from '@slowwave/sdk';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api } from '../api.ts';
import { ActionForm } from '../ui/action.tsx';
import { Line, LongText, Select } from '../ui/fields.tsx';
import { Pages, usePages } from '../ui/pages.tsx';
import { StateTag } from '../ui/standing.tsx';
import { Empty } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { Changes } from './canary/changes.tsx';

const PAGE = 50;
const EVERY_MS = 5_000;

/** Changes that were tried on a share of the owners. */
export function Canaries() {
  const [isStarting, setStarting] = useState(false);
  const list = usePages({
    queryKey: ['canaries'],
    read: (cursor, signal) => api.send('GET /v1/canaries', { query: { limit: PAGE, cursor } }, { signal }),
    everyMs: EVERY_MS,
  });
  const isAnyOpen = list.rows?.some(({ finished_at: end }) => end === null) ?? true;
  return (
    <>
      <h1>Canaries</h1>
      {isStarting ? (
        <Start close={() => setStarting(false)} />
      ) : (
        <p className="row">
          <span className="quiet">
            A canary applies a change to a few users first, and undoes it if memory gets worse.
          </span>
          <span className="push row">
            <button type="button" className="main" disabled={isAnyOpen} onClick={() => setStarting(true)}>
              Start a canary
            </button>
          </span>
        </p>
      )}
      <Pages of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>There are no canaries yet.</Empty>
          ) : (
            <ul className="plain">
              {rows.map((canary) => (
                <Row key={canary.id} canary={canary} />
              ))}
            </ul>
          )
        }
      </Pages>
    </>
  );
}

const Row = ({
  canary: { id, state, share, changes, halt, created_at: begun },
}: {
  readonly canary: CanarySummary;
}) => (
  <li className="card">
    <div className="row">
      <StateTag state={state} />
      <Link href={`/canaries/${id}`}>{share}% of the owners</Link>
      <Changes of={changes} />
      <span className="quiet push">
        <Moment iso={begun} />
      </span>
    </div>
    {halt !== null && <p className="quiet">Halted: {halt.message}</p>}
  </li>
);

const UNDO = {
  automatic: 'Undo its consolidations at once',
  manual: 'Wait for a decision',
} as const satisfies Record<NonNullable<PostCanary['undo']>, string>;

/** What most people change; the rest goes through the API. */
function Start({ close }: { readonly close: () => void }) {
  const [, go] = useLocation();
  const [model, setModel] = useState<string | null>(null);
  const [instructions, setInstructions] = useState<string | null>(null);
  const [decide, setDecide] = useState<string | null>(null);
  const [undo, setUndo] = useState<keyof typeof UNDO>('automatic');
  const changes = {
    ...(model !== null && { model }),
    ...(instructions !== null && { instructions }),
    ...(decide !== null && { decide_instructions: decide }),
  };
  return (
    <section className="card" aria-label="A new canary">
      <ActionForm
        submit="Start"
        cancel={close}
        disabled={Object.keys(changes).length === 0}
        run={() => api.canaries.start({ changes, undo })}
        touches={[['canaries']]}
        done={({ id }) => go(`/canaries/${id}`)}
      >
        <Line name="Model" value={model} change={setModel} hint="The chat model to use instead." />
        <LongText
          name="Instructions"
          value={instructions}
          change={setInstructions}
          hint="What to remember. Replaces the instructions in the settings."
        />
        <LongText name="How new facts change memories" value={decide} change={setDecide} />
        <Select name="If memory gets worse" options={UNDO} value={undo} change={setUndo} />
      </ActionForm>
    </section>
  );
}

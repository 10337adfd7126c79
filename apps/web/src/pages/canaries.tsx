import type { Canary, CanaryFigure, CanarySummary, PostCanary } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { api } from '../api.ts';
import { Moment, percent, whole } from '../ui/figures.tsx';
import { Action, ActionForm, Amount, Confirm, Line, LongText, Opens, Select } from '../ui/forms.tsx';
import { Pages, Table, usePages } from '../ui/lists.tsx';
import { Answer, Empty, live } from '../ui/reading.tsx';
import { StateTag, Tried } from '../ui/standing.tsx';

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
      <Pages of={list} none="There are no canaries yet.">
        {(rows) => (
          <ul className="plain">
            {rows.map((canary) => (
              <Row key={canary.id} canary={canary} />
            ))}
          </ul>
        )}
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
      <Tried of={changes} />
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

const ONE_EVERY_MS = 2_000;

/** How a canary does beside the others, and what becomes of it. */
export function CanaryPage() {
  const { id = '' } = useParams();
  const canary = useQuery({
    queryKey: ['canaries', id],
    queryFn: ({ signal }) => api.canaries.get(id, { signal }),
    ...live(ONE_EVERY_MS),
  });
  return (
    <Answer of={canary}>
      {(now) => (
        <>
          <h1>Canary</h1>
          <Head canary={now} />
          {now.undoing !== null && <Undone undoing={now.undoing} />}
          <Figures canary={now} />
        </>
      )}
    </Answer>
  );
}

const TOUCHES = [['canaries']];

function Head({ canary }: { readonly canary: Canary }) {
  const { id, state, share, step, steps, changes, halt, owners, owners_touched: touched, consolidations } = canary;
  const { step_since: since, finished_at: finished } = canary;
  const isOn = state === 'running' || state === 'done';
  return (
    <section className="card" aria-label="Status">
      <div className="row">
        <StateTag state={state} />
        <Tried of={changes} />
        <span className="push row">
          <Link href="/canaries">All canaries</Link>
          {isOn && (
            <Action run={() => api.canaries.promote(id)} touches={TOUCHES} kind={state === 'done' ? 'main' : undefined}>
              Promote
            </Action>
          )}
          {(isOn || state === 'halted') && (
            <Action run={() => api.canaries.stop(id)} touches={TOUCHES}>
              Stop, keep changes
            </Action>
          )}
          {state !== 'undone' && state !== 'promoted' && (
            <Opens kind="danger" window={(close) => <Undoing canary={canary} close={close} />}>
              Undo …
            </Opens>
          )}
        </span>
      </div>
      <p>
        {share}% of the owners, step {step} of {steps.length}, {finished === null ? 'started ' : 'ended '}
        <Moment iso={finished ?? since} />. {whole(touched)} of {whole(owners)} owners have {whole(consolidations)}{' '}
        consolidations with the changes.
      </p>
      {halt !== null && <p className="problem">Halted: {halt.message}.</p>}
    </section>
  );
}

function Undone({ undoing }: { readonly undoing: NonNullable<Canary['undoing']> }) {
  const { owners, consolidations, batches, used, expected, waiting } = undoing;
  const { held, replayed, done, left } = owners;
  const all = held + replayed + done + left;
  return (
    <section className="card" aria-label="Undo">
      <h2>Undo</h2>
      <p>
        <progress max={Math.max(1, all)} value={done + left} aria-label="Finished owners" /> {done + left} of {all}{' '}
        owners{held > 0 && <span className="quiet">, {held} held</span>}
        {replayed > 0 && <span className="quiet">, {replayed} being consolidated again</span>}
        {left > 0 && <span className="tag bad">{left} could not be undone: retention removed their messages</span>}
      </p>
      <p>
        {whole(consolidations)} consolidations undone, {whole(batches)} batches queued again; {whole(used.tokens)}{' '}
        tokens used, about {whole(expected.tokens)} expected.
      </p>
      {waiting !== null && <p className="problem">Waiting: {waiting.message}</p>}
    </section>
  );
}

const DIGITS = 3;
const short = (value: number | null): string => (value === null ? '–' : String(Number(value.toPrecision(DIGITS))));
const LOOKS = { fine: 'good', worse: 'bad', unclear: '' } as const;

function Figures({ canary: { watched } }: { readonly canary: Canary }) {
  if (watched === null || watched.figures.length === 0)
    return (
      <Empty>
        Nothing to compare yet. The comparison starts with the first consolidations with and without the changes.
      </Empty>
    );
  const { beside, canary, rest, figures } = watched;
  return (
    <Table
      name="Figures"
      card
      rows={figures}
      keyOf={({ figure }) => figure}
      columns={[
        ['Figure', ({ figure, says }) => <span title={says}>{figure.replaceAll('_', ' ')}</span>, 'name'],
        ['Canary', (of) => short(of.canary), 'number'],
        ['Others', (of) => short(of.rest), 'number'],
        ['Difference', differenceOf, 'number'],
        ['Margin', ({ relative, margin }) => (relative ? percent(margin) : short(margin)), 'number'],
        ['', ({ verdict }) => <span className={`tag ${LOOKS[verdict]}`}>{verdict}</span>],
      ]}
    >
      <h2>Figures</h2>
      <p className="quiet">
        {canary} consolidations with the changes, compared with {rest}{' '}
        {beside === 'others' ? 'of other owners' : 'from before the canary'}.
      </p>
    </Table>
  );
}

const differenceOf = ({ difference }: CanaryFigure): string =>
  difference === null ? '–' : `${short(difference.value)} (${short(difference.low)} to ${short(difference.high)})`;

interface Asked {
  readonly canary: Canary;
  readonly close: () => void;
}

/** What an undo would do and use, before it is done. */
function Undoing({ canary: { id, budget }, close }: Asked) {
  const [tokens, setTokens] = useState(budget.tokens);
  const rehearsal = useQuery({
    queryKey: ['canaries', id, 'undo'],
    queryFn: async ({ signal }) => {
      const answer = await api.canaries.undo(id, { dry_run: true }, { signal });
      if ('dry_run' in answer) return answer;
      throw new Error('expected a dry run to be answered with what would be undone');
    },
    staleTime: 0,
  });
  return (
    <Confirm
      title="Undo this canary?"
      submit="Undo and consolidate again"
      close={close}
      run={() => api.canaries.undo(id, { budget: { ...budget, tokens } })}
      touches={[['canaries']]}
    >
      <Answer of={rehearsal}>
        {({ owners, consolidations, batches, expected: { calls, tokens: expected } }) => (
          <p>
            {whole(consolidations)} consolidations of {whole(owners)} owners will be undone, and {whole(batches)}{' '}
            batches consolidated again without the changes. This will use about {whole(calls)} model calls and{' '}
            {whole(expected)} tokens. Explicit writes and approvals stay.
          </p>
        )}
      </Answer>
      <Amount name="Token limit" value={tokens} change={setTokens} hint="Empty: no limit." />
    </Confirm>
  );
}

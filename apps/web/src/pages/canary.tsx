import type { Canary, CanaryFigure } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { api } from '../api.ts';
import { Action } from '../ui/action.tsx';
import { live } from '../ui/reading.ts';
import { StateTag } from '../ui/standing.tsx';
import { Answer, Empty } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { Wide } from '../ui/wide.tsx';
import { Changes } from './canary/changes.tsx';
import { Undoing } from './canary/undoing.tsx';

const EVERY_MS = 2_000;

/** How a canary does beside the others, and what becomes of it. */
export function CanaryPage() {
  const { id = '' } = useParams();
  const canary = useQuery({
    queryKey: ['canaries', id],
    queryFn: ({ signal }) => api.canaries.get(id, { signal }),
    ...live(EVERY_MS),
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
  const [isUndoing, setUndoing] = useState(false);
  const { id, state, share, step, steps, changes, halt, owners, owners_touched: touched, consolidations } = canary;
  const { step_since: since, finished_at: finished } = canary;
  const isOn = state === 'running' || state === 'done';
  return (
    <section className="card" aria-label="Status">
      <div className="row">
        <StateTag state={state} />
        <Changes of={changes} />
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
            <button type="button" className="danger" onClick={() => setUndoing(true)}>
              Undo …
            </button>
          )}
        </span>
      </div>
      <p>
        {share}% of the owners, step {step} of {steps.length}, {finished === null ? 'started ' : 'ended '}
        <Moment iso={finished ?? since} />. {touched.toLocaleString('en')} of {owners.toLocaleString('en')} owners have{' '}
        {consolidations.toLocaleString('en')} consolidations with the changes.
      </p>
      {halt !== null && <p className="problem">Halted: {halt.message}.</p>}
      {isUndoing && <Undoing canary={canary} close={() => setUndoing(false)} />}
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
        {consolidations.toLocaleString('en')} consolidations undone, {batches.toLocaleString('en')} batches queued
        again; {used.tokens.toLocaleString('en')} tokens used, about {expected.tokens.toLocaleString('en')} expected.
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
    <Wide name="Figures" card>
      <h2>Figures</h2>
      <p className="quiet">
        {canary} consolidations with the changes, compared with {rest}{' '}
        {beside === 'others' ? 'of other owners' : 'from before the canary'}.
      </p>
      <table>
        <thead>
          <tr>
            <th>Figure</th>
            <th className="number">Canary</th>
            <th className="number">Others</th>
            <th className="number">Difference</th>
            <th className="number">Margin</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {figures.map((figure) => (
            <Row key={figure.figure} figure={figure} />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const Row = ({ figure }: { readonly figure: CanaryFigure }) => (
  <tr>
    <th title={figure.says}>{figure.figure.replaceAll('_', ' ')}</th>
    <td className="number">{short(figure.canary)}</td>
    <td className="number">{short(figure.rest)}</td>
    <td className="number">
      {figure.difference === null
        ? '–'
        : `${short(figure.difference.value)} (${short(figure.difference.low)} to ${short(figure.difference.high)})`}
    </td>
    <td className="number">{figure.relative ? `${Math.round(figure.margin * 100)}%` : short(figure.margin)}</td>
    <td>
      <span className={`tag ${LOOKS[figure.verdict]}`}>{figure.verdict}</span>
    </td>
  </tr>
);

import type { ParkedList, Parked as Reason } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { Action } from '../../ui/action.tsx';
import { Owner } from '../../ui/links.tsx';
import { live } from '../../ui/reading.ts';
import { Answer, Empty } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { Replaying } from './replaying.tsx';

const EVERY_MS = 3_000;

/** Why batches are stuck, and what mends it. */
export function Parked() {
  const [replaying, setReplaying] = useState<string | null>(null);
  const parked = useQuery({
    queryKey: ['parked'],
    queryFn: ({ signal }) => api.send('GET /v1/parked', {}, { signal }),
    ...live(EVERY_MS),
  });
  return (
    <section aria-label="Parked">
      <Answer of={parked}>
        {({ results, studies }) => (
          <>
            <div className="row heading">
              <h2>Parked</h2>
              {results.length > 1 && (
                <button type="button" onClick={() => setReplaying('')}>
                  Replay all …
                </button>
              )}
            </div>
            {results.length + studies.length === 0 && <Empty>No batches are parked.</Empty>}
            {results.map((reason) => (
              <Stuck key={reason.code} reason={reason} replay={() => setReplaying(reason.code)} />
            ))}
            {studies.length > 0 && <Studies studies={studies} />}
          </>
        )}
      </Answer>
      {replaying !== null && (
        <Replaying filter={replaying === '' ? {} : { error_code: replaying }} close={() => setReplaying(null)} />
      )}
    </section>
  );
}

/** What of the graph is missing, since it could not be read out of a consolidation. */
const Studies = ({ studies }: Pick<ParkedList, 'studies'>) => (
  <article className="card" aria-label="Graph">
    <h3>
      Missing in the graph{' '}
      <span className="tag bad">
        {studies.length.toLocaleString('en')} {studies.length === 1 ? 'consolidation' : 'consolidations'}
      </span>
    </h3>
    <ul className="plain">
      {studies.map((study) => (
        <li key={study.consolidation_id} className="row">
          <Owner of={study} />
          <Link href={`/consolidations/${study.consolidation_id}`}>
            <Moment iso={study.requested_at} />
          </Link>
          {study.error !== null && (
            <details>
              <summary>
                <code>{study.error.code}</code>
              </summary>
              <p className="text">{study.error.message}</p>
            </details>
          )}
          <span className="push">
            <Action
              run={() => api.send('POST /v1/consolidations/{id}/graph', { params: { id: study.consolidation_id } })}
              touches={[['parked']]}
            >
              Try again
            </Action>
          </span>
        </li>
      ))}
    </ul>
  </article>
);

const Stuck = ({ reason, replay }: { readonly reason: Reason; readonly replay: () => void }) => (
  <article className="card">
    <h3>
      <code>{reason.code}</code>{' '}
      <span className="tag bad">
        {reason.batches.toLocaleString('en')} {reason.batches === 1 ? 'batch' : 'batches'}
      </span>
    </h3>
    <p>{reason.remedy}</p>
    <details>
      <summary>Error message</summary>
      <p className="text">{reason.example}</p>
    </details>
    <div className="row">
      <button type="button" onClick={replay}>
        Replay {reason.batches === 1 ? 'it' : 'them'} …
      </button>
      <Link
        href={`/work?${new URLSearchParams({ state: 'parked', reason: reason.code })}`}
        onClick={() => document.getElementById('batches')?.focus()}
      >
        Show
      </Link>
      <span className="quiet">
        {reason.owners.toLocaleString('en')} {reason.owners === 1 ? 'owner' : 'owners'}; the oldest was accepted{' '}
        <Moment iso={reason.oldest_at} />
      </span>
    </div>
  </article>
);

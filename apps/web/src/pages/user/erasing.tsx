import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import type { Owner } from '../../owner.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Answer } from '../../ui/states.tsx';

const START: Readonly<Record<Owner['kind'], (id: string) => ReturnType<typeof api.users.erase>>> = {
  user: (id) => api.users.erase(id),
  agent: (id) => api.users.eraseAgent(id),
  run: (id) => api.users.eraseRun(id),
};

/** Erases somebody, after their id was typed. Its progress is shown where all users are: their own page is gone. */
export function Erase({ owner: { kind, id } }: { readonly owner: Owner }) {
  const [asking, setAsking] = useState(false);
  const [, go] = useLocation();
  return (
    <>
      <button type="button" className="danger" onClick={() => setAsking(true)}>
        Erase …
      </button>
      {asking && (
        <Confirm
          title={`Erase the ${kind} ${id} permanently?`}
          submit="Erase permanently"
          word={id}
          close={() => setAsking(false)}
          run={() => START[kind](id)}
          touches={[['users'], ['owner'], ['stats']]}
          done={({ erasure_id: erasure }) => go(`/users?erasure=${erasure}`)}
        >
          <p>
            This erases everything they said and everything derived from it: messages, memories with their history, the
            graph, summaries, model answers, and the id itself. It cannot be undone. To hide single memories, delete
            them instead.
          </p>
        </Confirm>
      )}
    </>
  );
}

const EVERY_MS = 1_000;

const STATES = {
  requested: 'Nothing can be found or added any more. Erasing will start in a moment.',
  erasing: 'Erasing …',
  compacting: 'Everything is deleted. The files are being rewritten so that nothing is left on disk.',
  erased: 'Erased.',
} as const;

/** How far an erasure is, until it is complete. */
export function ErasureProgress({ id }: { readonly id: string }) {
  const erasure = useQuery({
    queryKey: ['erasure', id],
    queryFn: ({ signal }) => api.users.erasure(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'erased' ? false : EVERY_MS),
  });
  return (
    <section className="card" aria-label="Erasure">
      <h2>Erasure</h2>
      <Answer of={erasure}>
        {({ state, counts, remains }) => (
          <>
            <p role="status">{STATES[state]}</p>
            <p className="row">
              {Object.entries(counts).map(([kind, count]) => (
                <span key={kind} className="tag">
                  {count.toLocaleString('en')} {kind.replaceAll('_', ' ')}
                </span>
              ))}
            </p>
            {remains.map((rest) => (
              <p key={rest} className="quiet">
                {rest}
              </p>
            ))}
          </>
        )}
      </Answer>
    </section>
  );
}

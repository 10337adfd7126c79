import type { Settings } from '@slowwave/sdk';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Action } from '../../ui/action.tsx';

interface Answered {
  readonly asked: string;
  readonly rows: readonly (readonly [what: string, count: number])[];
}

/** What these settings would remove at once, before anybody saves them. */
export function Falling({ draft: { retention, forgetting } }: { readonly draft: Settings }) {
  const [answered, setAnswered] = useState<Answered | null>(null);
  const asked = JSON.stringify({ retention, forgetting });
  return (
    <section className="card" aria-label="Retention preview">
      <h2>What would be removed now</h2>
      <Action
        run={() => api.send('POST /v1/retention/preview', { body: { retention, forgetting }, readsOnly: true })}
        done={({ batches, consolidations, histories, memories, forgotten }) =>
          setAnswered({
            asked,
            rows: [
              ['Batches that lose their messages', batches],
              ['Consolidations that lose their plan', consolidations],
              ['Memories that lose their previous versions', histories],
              ['Memories forgotten because of their age', memories.age],
              ['Memories forgotten because they were not confirmed', memories.unconfirmed],
              ['Memories forgotten because there are too many', memories.budget],
              ['Forgotten memories that are erased', forgotten],
            ],
          })
        }
      >
        Show
      </Action>
      {answered?.asked === asked && (
        <dl className="pairs">
          {answered.rows.map(([what, count]) => (
            <div key={what}>
              <dt>{what}</dt>
              <dd>{count.toLocaleString('en')}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

import type { Graph } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { api } from '../api.ts';
import { useWho } from '../session.ts';
import { Answer, Empty } from '../ui/states.tsx';
import { around, beginningOf, relationsAt } from './graph/at-time.ts';
import { Picture } from './graph/picture.tsx';
import { AboutEntity, Proposals, RelationList } from './graph/side.tsx';

/** More are read in pages by programs; as a picture nobody could read them. */
const LIMIT = 500;

/** Who and what a user speaks of, and how it hangs together, at any time. */
export function GraphPage() {
  const { user_id: bound } = useWho();
  const user = bound ?? new URLSearchParams(useSearch()).get('user') ?? '';
  return (
    <>
      <div className="row">
        <h1>Graph</h1>
        {bound === null && <WhoseGraph user={user} />}
      </div>
      {user === '' ? (
        <Empty>Enter a user to see the people, places and things they talk about.</Empty>
      ) : (
        <Of user={user} />
      )}
    </>
  );
}

function WhoseGraph({ user }: { readonly user: string }) {
  const [, go] = useLocation();
  const show = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const named = String(new FormData(event.currentTarget).get('user') ?? '').trim();
    go(`/graph?${new URLSearchParams({ user: named })}`);
  };
  return (
    <form className="push row" onSubmit={show}>
      <label htmlFor="user">User</label>
      <input id="user" name="user" defaultValue={user} key={user} />
      <button type="submit">Show</button>
    </form>
  );
}

function Of({ user }: { readonly user: string }) {
  const graph = useQuery({
    queryKey: ['graph', 'of', user],
    queryFn: ({ signal }) => api.graph.get({ user_id: user, ended: 'true', limit: LIMIT }, { signal }),
  });
  return (
    <Answer of={graph}>
      {(known) => {
        const beginning = beginningOf(known);
        return beginning === null ? (
          <Empty>
            There are no relations for {user}. They are extracted from batches posted with <code>"graph": true</code>,
            or from all batches if enabled in the settings.
          </Empty>
        ) : (
          <Timed key={user} user={user} graph={known} beginning={beginning} />
        );
      }}
    </Answer>
  );
}

interface OverTime {
  readonly user: string;
  readonly graph: Graph;
  readonly beginning: number;
}

const DAY_MS = 86_400_000;
const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

function Timed({ user, graph, beginning }: OverTime) {
  const [now] = useState(() => Date.now());
  const [at, setAt] = useState(now);
  const [chosen, choose] = useState<string | null>(null);
  const shown = useMemo(() => relationsAt(graph.relations, at), [graph, at]);
  const entity = graph.entities.find(({ id }) => id === chosen);
  return (
    <>
      <div className="card">
        <label htmlFor="at">As of {at === now ? 'now' : DATE.format(at)}</label>
        <input
          id="at"
          type="range"
          min={Math.min(beginning, now - DAY_MS)}
          max={now}
          step={DAY_MS / 24}
          value={at}
          onChange={({ target }) => setAt(Number(target.value))}
        />
      </div>
      {graph.truncated && <p className="notice">Only the first {LIMIT} relations are shown.</p>}
      <div className="beside">
        <section className="card">
          <Picture entities={graph.entities} shown={shown} chosen={chosen} choose={choose} />
        </section>
        <div>
          <Proposals user={user} />
          {entity !== undefined && <AboutEntity entity={entity} />}
          <section className="card" aria-label="Relations">
            <h2 className="row">
              Relations
              {chosen !== null && (
                <button type="button" className="push" onClick={() => choose(null)}>
                  Show all
                </button>
              )}
            </h2>
            <RelationList shown={chosen === null ? shown : around(shown, chosen)} />
          </section>
        </div>
      </div>
    </>
  );
}

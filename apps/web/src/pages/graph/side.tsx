import type { Entity, Relation } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, mayChange } from '../../api.ts';
import { useWho } from '../../session.ts';
import { Action } from '../../ui/action.tsx';
import { Problem } from '../../ui/states.tsx';
import { Day } from '../../ui/time.tsx';
import type { Shown } from './at-time.ts';

/** Everything that is read of graphs. */
const GRAPH = ['graph'] as const;

/** One entity: how it is called, and what it was merged with. */
export function AboutEntity({ entity }: { readonly entity: Entity }) {
  const { id, name, kind, self, aliases } = entity;
  const isOffered = mayChange(useWho());
  return (
    <section className="card" aria-label={name}>
      <h2>
        {name} <span className="tag">{self ? 'the user' : kind}</span>
      </h2>
      {aliases.length > 0 && (
        <>
          <p>Also called {aliases.join(', ')}.</p>
          {isOffered && !self && (
            <Action run={() => api.graph.split(id)} touches={[GRAPH]}>
              Undo merge
            </Action>
          )}
        </>
      )}
    </section>
  );
}

/** Relations in words, each with what somebody said. */
export function RelationList({ shown }: { readonly shown: readonly Shown[] }) {
  if (shown.length === 0) return <p className="quiet">There are no relations at this time.</p>;
  return (
    <ul className="plain">
      {shown.map(({ relation, ended }) => (
        <li key={relation.id}>
          <details>
            <summary>
              {relation.text} {ended && <span className="tag">ended</span>}
            </summary>
            <Behind relation={relation} />
          </details>
        </li>
      ))}
    </ul>
  );
}

/** Where a relation comes from, and how to put it right. */
function Behind({ relation }: { readonly relation: Relation }) {
  const { id, quote, valid_from: from, invalid_at: until, memory_ids: memories, message_ids: messages } = relation;
  const isOffered = mayChange(useWho());
  return (
    <div className="behind">
      {quote !== null && <blockquote>{quote}</blockquote>}
      <p className="quiet">
        since <Day iso={from} />
        {until !== null && (
          <>
            , until <Day iso={until} />
          </>
        )}
      </p>
      {messages[0] !== undefined && <Message id={messages[0]} />}
      <p className="row">
        {memories.map((memory) => (
          <Link key={memory} href={`/memories/${memory}`}>
            Memory
          </Link>
        ))}
        {isOffered && until === null && (
          <Action run={() => api.graph.delete(id)} touches={[GRAPH]} kind="danger">
            Never true
          </Action>
        )}
      </p>
    </div>
  );
}

/** The message that a relation was read from. */
function Message({ id }: { readonly id: string }) {
  const around = useQuery({
    queryKey: [...GRAPH, 'message', id],
    queryFn: ({ signal }) => api.memories.messages(id, { before: 0, after: 0 }, { signal }),
  });
  if (around.error !== null) return <Problem error={around.error} />;
  const [message] = around.data?.results ?? [];
  if (message === undefined) return null;
  return (
    <p className="text">
      <span className="quiet">{message.role}:</span> {message.content}
    </p>
  );
}

/** Pairs of entities that may be one, for a person to decide. */
export function Proposals({ user }: { readonly user: string }) {
  const isOffered = mayChange(useWho());
  const proposals = useQuery({
    queryKey: [...GRAPH, 'proposals', user],
    queryFn: ({ signal }) => api.graph.proposals({ user_id: user }, { signal }),
  });
  if (proposals.error !== null) return <Problem error={proposals.error} retry={() => proposals.refetch()} />;
  const pairs = proposals.data?.results ?? [];
  if (pairs.length === 0) return null;
  return (
    <section className="card" aria-label="Possible duplicates">
      <h2>Possible duplicates</h2>
      <ul className="plain">
        {pairs.map(({ source, destination }) => (
          <li key={`${source.id} ${destination.id}`} className="row">
            <span>
              {source.name} and {destination.name}
            </span>
            {isOffered && (
              <>
                <Action run={() => api.graph.merge(source.id, { into: destination.id })} touches={[GRAPH]}>
                  Same
                </Action>
                <Action run={() => api.graph.split(source.id)} touches={[GRAPH]}>
                  Different
                </Action>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

import type { Memory } from '@slowwave/sdk';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Action } from '../ui/action.tsx';
import { useLater } from '../ui/reading.ts';
import { Said } from '../ui/said.tsx';
import { Answer, Empty, Loading, Problem } from '../ui/states.tsx';
import { Correct, Forget, SHOWN } from './changing.tsx';
import { useOwn } from './coming.ts';
import { counted, dayOf, plainly } from './plainly.ts';

/** The list of memories, or what a search in it finds. */
export function Memories() {
  const [typed, setTyped] = useState('');
  const [forgotten, setForgotten] = useState<Memory | null>(null);
  const query = useLater(typed.trim());
  const field = useId();
  return (
    <>
      <search className="card fields">
        <label htmlFor={field}>Search</label>
        <input
          id={field}
          type="search"
          value={typed}
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
        />
      </search>
      {forgotten !== null && <Forgotten memory={forgotten} close={() => setForgotten(null)} />}
      {query === '' ? <All forgot={setForgotten} /> : <Found query={query} forgot={setForgotten} />}
    </>
  );
}

interface Listing {
  /** Told of what somebody had forgotten. */
  readonly forgot: (memory: Memory) => void;
}

const PAGE = 50;

function All({ forgot }: Listing) {
  const { api, userId } = useOwn();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...SHOWN, 'all'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      plainly(api.memories.list({ user_id: userId, limit: PAGE, cursor: pageParam }, { signal })),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const memories = data?.pages.flatMap(({ results }) => results) ?? [];
  return (
    <section aria-label="Memories">
      {error !== null && <Problem error={error} retry={refetch} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && memories.length === 0 && <Empty>Nothing is remembered about you.</Empty>}
      {memories.length > 0 && (
        <>
          <p className="quiet" role="status">
            {counted(memories.length, 'memory', 'memories')}
            {hasNextPage && ' or more'}
          </p>
          <ul className="lines">
            {memories.map((memory) => (
              <One key={memory.id} memory={memory} forgot={forgot} />
            ))}
          </ul>
        </>
      )}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </section>
  );
}

function Found({ query, forgot }: Listing & { readonly query: string }) {
  const { api, userId, mayChange } = useOwn();
  const found = useQuery({
    queryKey: [...SHOWN, 'found', query],
    queryFn: (
      { signal }, // No model is told what somebody looks up for themselves.
    ) => plainly(api.memories.search({ user_id: userId, query, ...(mayChange && { receipt: false }) }, { signal })),
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-label="Found">
      <Answer of={found}>
        {({ results }) => (
          <>
            <p className="quiet" role="status">
              {results.length === 0 ? 'Nothing found' : `${counted(results.length, 'memory', 'memories')} found`}
            </p>
            <ul className="lines">
              {results.map((memory) => (
                <One key={memory.id} memory={memory} forgot={forgot} />
              ))}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

/** Whose word it is, where it is not simply what the person said. */
const TRUST: Readonly<Partial<Record<Memory['trust'], string>>> = {
  imported: 'entered manually',
  agent: 'said by the assistant',
  tool: 'from a tool',
  inferred: 'concluded from other things you said',
  external: 'from somewhere else',
};

function One({ memory, forgot }: Listing & { readonly memory: Memory }) {
  const { mayChange } = useOwn();
  const [doing, setDoing] = useState<'correct' | 'forget' | null>(null);
  const [isOpen, setOpen] = useState(false);
  const { id, memory: text, valid_from: since, trust } = memory;
  const close = () => setDoing(null);
  return (
    <li className="card">
      <p className="text said">{text}</p>
      <p className="quiet">
        {dayOf(since)}
        {TRUST[trust] !== undefined && <> · {TRUST[trust]}</>}
      </p>
      <div className="row">
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Where is this from?
        </button>
        {mayChange && (
          <>
            <button type="button" aria-label={`Correct: ${text}`} onClick={() => setDoing('correct')}>
              Correct
            </button>
            <button type="button" aria-label={`Forget: ${text}`} onClick={() => setDoing('forget')}>
              Forget
            </button>
          </>
        )}
      </div>
      {isOpen && <From id={id} />}
      {doing === 'correct' && <Correct memory={memory} close={close} />}
      {doing === 'forget' && <Forget memory={memory} close={close} done={() => forgot(memory)} />}
    </li>
  );
}

/** The messages that it comes from, with the words that say it. */
function From({ id }: { readonly id: string }) {
  const { api } = useOwn();
  const sources = useQuery({
    queryKey: [...SHOWN, 'from', id],
    queryFn: ({ signal }) => plainly(api.memories.sources(id, {}, { signal })),
  });
  return (
    <section aria-label="Where it is from" className="behind">
      <Answer of={sources}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">There is no message: it was entered manually, or the message is no longer stored.</p>
          ) : (
            <ol className="lines">
              {results.map((source) => (
                <Said key={source.message_id} source={source} by={SPEAKERS[source.role]} at={dayOf(source.said_at)} />
              ))}
            </ol>
          )
        }
      </Answer>
    </section>
  );
}

const SPEAKERS = { user: 'You', assistant: 'The assistant', tool: 'A tool', system: 'The service' } as const;

/** What was just forgotten can be had back, as long as somebody looks at it. */
function Forgotten({
  memory: { id, memory, version },
  close,
}: {
  readonly memory: Memory;
  readonly close: () => void;
}) {
  const { api } = useOwn();
  return (
    <div className="card row" role="status">
      <span className="text">Forgotten: “{memory}”</span>
      <Action run={() => plainly(api.memories.restore(id, version))} touches={[SHOWN]} done={close}>
        Undo
      </Action>
    </div>
  );
}

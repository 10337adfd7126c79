import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Said } from '../../ui/said.tsx';
import { Answer } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

/** So many messages before and after each, once somebody wants to read around it. */
const AROUND = 3;

/** What was said: the messages that a memory came from, with the words it rests on. */
export function Sources({ id }: { readonly id: string }) {
  const [isWide, setWide] = useState(false);
  const reach = isWide ? AROUND : 0;
  const sources = useQuery({
    queryKey: ['memory', id, 'sources', reach],
    queryFn: ({ signal }) => api.memories.sources(id, { before: reach, after: reach }, { signal }),
  });
  return (
    <section aria-label="Sources">
      <Answer of={sources}>
        {({ results }) =>
          results.length === 0 ? (
            <p className="quiet">
              There is no source message: it was entered manually, or its messages are no longer stored.
            </p>
          ) : (
            <>
              <ol className="lines">
                {results.map((source) => (
                  <Said
                    key={source.message_id}
                    source={source}
                    by={source.name ?? source.role}
                    at={<Moment iso={source.said_at} />}
                  />
                ))}
              </ol>
              <button type="button" aria-pressed={isWide} onClick={() => setWide(!isWide)}>
                Show the conversation around it
              </button>
            </>
          )
        }
      </Answer>
    </section>
  );
}

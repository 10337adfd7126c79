import type { Memory } from '@slowwave/sdk';
import { SlowwaveError } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'wouter';
import { api, isOfAllApps } from '../api.ts';
import { ownerOf, pathOf } from '../owner.ts';
import { useWho } from '../session.ts';
import { Answer } from '../ui/states.tsx';
import { Day } from '../ui/time.tsx';
import { Changes } from './memory/change.tsx';
import { Marks } from './memory/marks.tsx';
import { Related } from './memory/related.tsx';
import { Sources } from './memory/sources.tsx';
import { ToldTo } from './memory/told.tsx';
import { Versions } from './memory/versions.tsx';

/** One memory: what it says, who said so, how it came to say it, and who was told. */
export function MemoryPage() {
  const { id = '' } = useParams();
  const who = useWho();
  const memory = useQuery({
    queryKey: ['memory', id, 'now'],
    queryFn: ({ signal }) => api.memories.get(id, { signal }),
  });
  const isGone = memory.error instanceof SlowwaveError && memory.error.status === 404;
  const now = isGone ? null : (memory.data ?? null);
  return (
    <>
      <h1>Memory</h1>
      <Answer of={memory}>{(found) => <Now memory={found} />}</Answer>
      <div className="beside">
        <Versions id={id} now={now} />
        <div>
          {now !== null && isOfAllApps(who) && (
            <section className="card">
              <h2>Sources</h2>
              <Sources id={id} />
            </section>
          )}
          <ToldTo id={id} />
          {now !== null && isOfAllApps(who) && <Related memory={now} />}
        </div>
      </div>
    </>
  );
}

function Now({ memory }: { readonly memory: Memory }) {
  const owner = ownerOf(memory);
  const { valid_from: from, invalid_at: until, categories } = memory;
  return (
    <section className="card" aria-label="Current version">
      <p className="text said">{memory.memory}</p>
      <p className="row quiet">
        <Link href={pathOf(owner)}>{owner.id}</Link>
        {categories.map((category) => (
          <span key={category} className="tag">
            {category.replaceAll('_', ' ')}
          </span>
        ))}
        <Marks memory={memory} />
        <span>
          true since <Day iso={from} />
          {until !== null && (
            <>
              {' '}
              until <Day iso={until} />
            </>
          )}
        </span>
      </p>
      <Changes memory={memory} />
    </section>
  );
}

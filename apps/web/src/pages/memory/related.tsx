import type { Memory, Relation } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api.ts';
import { ownerOf, useIds } from '../../owner.ts';
import { Answer } from '../../ui/states.tsx';

/** Relations of an owner that are looked through: more than anybody's graph can show at once. */
const LOOKED_THROUGH = 2_000;

/** What of the graph rests on a memory. */
export function Related({ memory }: { readonly memory: Memory }) {
  const owner = ownerOf(memory);
  const { app_id: _, ...ids } = useIds(owner);
  const related = useQuery({
    queryKey: ['memory', memory.id, 'relations'],
    queryFn: async ({ signal }) => {
      const found: Relation[] = [];
      let looked = 0;
      for await (const relation of api.graph.eachRelation({ ...ids, limit: 200 }, { signal })) {
        if (relation.memory_ids.includes(memory.id)) found.push(relation);
        looked += 1;
        if (looked >= LOOKED_THROUGH) break;
      }
      return found;
    },
  });
  return (
    <section className="card" aria-label="Relations">
      <h2>Relations</h2>
      <Answer of={related}>
        {(relations) =>
          relations.length === 0 ? (
            <p className="quiet">No relations are based on it.</p>
          ) : (
            <ul className="plain">
              {relations.map(({ id, text }) => (
                <li key={id}>{text}</li>
              ))}
            </ul>
          )
        }
      </Answer>
      {owner.kind === 'user' && <Link href={`/graph?${new URLSearchParams({ user: owner.id })}`}>Whole graph</Link>}
    </section>
  );
}

import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { Loading, Problem } from '../ui/states.tsx';

/** How often the figures are read again while somebody looks. */
const EVERY_MS = 5_000;

/** How everything is doing, and what needs somebody. */
export function Overview() {
  const stats = useQuery({
    queryKey: ['stats'],
    queryFn: ({ signal }) => api.stats({ signal }),
    refetchInterval: EVERY_MS,
  });
  if (stats.data === undefined)
    return stats.error === null ? <Loading /> : <Problem error={stats.error} retry={() => stats.refetch()} />;
  const { batches, memories, owners, usage } = stats.data;
  const waiting = batches.pending + batches.consolidating;
  return (
    <>
      <h1>Overview</h1>
      <div className="grid">
        <Figure name="Batches accepted" value={batches.accepted} />
        <Figure name="Waiting" value={waiting} />
        <Figure name="Consolidated" value={batches.consolidated + batches.empty} />
        <Figure name="Parked" value={batches.parked} />
        <Figure name="Memories" value={memories.live} />
        <Figure name="Owners" value={owners} />
        <Figure name="Model calls" value={usage.calls} />
        <Figure name="Tokens" value={usage.prompt_tokens + usage.completion_tokens} />
      </div>
    </>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: number }) => (
  <section className="card">
    <span className="figure">{value.toLocaleString('en')}</span>
    <span className="quiet">{name}</span>
  </section>
);

import type { PostReplay } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Owner } from '../../ui/links.tsx';
import { Answer } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';

interface Asked {
  readonly filter: PostReplay['filter'];
  readonly close: () => void;
}

/** Which batches are tried again, before they are. */
export function Replaying({ filter, close }: Asked) {
  const [, go] = useLocation();
  const rehearsal = useQuery({
    queryKey: ['rehearsal', filter],
    queryFn: async ({ signal }) => {
      const answer = await api.replays.start({ filter, dry_run: true }, { signal });
      if ('dry_run' in answer) return answer;
      throw new Error('expected a dry run to be answered with what matches');
    },
    staleTime: 0,
  });
  return (
    <Confirm
      title="Replay these batches?"
      submit="Replay"
      close={close}
      disabled={(rehearsal.data?.matched ?? 0) === 0}
      run={() => api.replays.start({ filter })}
      touches={[['replays'], ['parked'], ['batches']]}
      done={(replay) => 'id' in replay && go(`/work/replays/${replay.id}`)}
    >
      <Answer of={rehearsal}>
        {({ matched, sample, forecast: { tokens } }) => (
          <>
            <p>
              {matched === 1 ? 'One batch' : `${matched.toLocaleString('en')} batches`} will be queued again, with the
              original times: newer information is not overwritten. This will use about{' '}
              {tokens.about.toLocaleString('en')} ± {tokens.plus_minus.toLocaleString('en')} tokens.
            </p>
            <ul>
              {sample.map((batch) => (
                <li key={batch.id}>
                  <Owner of={batch} />{' '}
                  <span className="quiet">
                    <Moment iso={batch.accepted_at} />
                  </span>{' '}
                  {batch.error !== null && <code>{batch.error.code}</code>}
                </li>
              ))}
            </ul>
            {sample.length < matched && <p className="quiet">The first {sample.length} are shown.</p>}
          </>
        )}
      </Answer>
    </Confirm>
  );
}

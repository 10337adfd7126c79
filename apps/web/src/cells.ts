import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { api, may } from './api.ts';
import { useWho } from './session.ts';
import { live } from './ui/reading.ts';

/** The cells as a router sees them, for operators. An installation without a router has none. */
export function useCells(everyMs: number) {
  const who = useWho();
  return useQuery({
    queryKey: ['cells'],
    queryFn: ({ signal }) => api.send('GET /v1/cells', {}, { signal }),
    enabled: may(who, 'operator'),
    ...live(everyMs),
  });
}

/** Given up for good: nobody waits for its answer. */
export const isGone = ({ state }: Pick<Operations['GET /v1/cells']['answer']['cells'][number], 'state'>): boolean =>
  state === 'lost' || state === 'left_behind';

import type { LiveView, ReadyView, StatsView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Ask, withApi } from '../api/ask.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import { pairs } from '../output/table.ts';

type Live = z.infer<typeof LiveView>;
type Ready = z.infer<typeof ReadyView>;
type Stats = z.infer<typeof StatsView>;

export const statusCommand: Command = {
  name: 'status',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'What runs on what, and how many batches and memories there are.',
  about: 'Ends with 5 when something that the server depends on does not answer.',
  options: {},
  run: (call) =>
    withApi(call, { writes: false }, async (ask, api) => {
      // Not ready is an answer, too.
      const { body } = await api.ask({ method: 'GET', path: '/readyz' });
      const ready = body as Ready;
      const { runs_on } = await ask<Live>({ method: 'GET', path: '/healthz' });
      const stats = await statsOf(ask, ready);
      call.out.answer({ ready, runs_on, stats }, told({ ready, runs_on, stats }));
      return ready.status === 'ok' ? EXIT.done : EXIT.unavailable;
    }),
};

/** null: the ledger does not answer. */
const statsOf = async (ask: Ask, ready: Ready): Promise<Stats | null> =>
  ready.checks.ledger?.ok === false ? null : ask<Stats>({ method: 'GET', path: '/v1/stats' });

function told({ ready, runs_on, stats }: { ready: Ready; runs_on: Live['runs_on']; stats: Stats | null }): string {
  const checks = Object.entries(ready.checks ?? {}).map(
    ([name, { ok, message }]) => [name, ok ? 'answers' : (message ?? 'does not answer')] as const,
  );
  const places = Object.entries(runs_on).map(([name, place]) => [name.replaceAll('_', ' '), place] as const);
  const parts = [pairs(checks), pairs(places)];
  if (stats === null) return parts.join('\n\n');
  const { batches, memories, owners, outbox, usage } = stats;
  const counts = [
    ...Object.entries(batches).map(([state, count]) => [`batches ${state}`, count] as const),
    ['memories', memories.live] as const,
    ['versions', memories.versions] as const,
    ['owners', owners] as const,
    ['not told to the index', outbox] as const,
    ['model calls', usage.calls] as const,
    ['tokens', usage.prompt_tokens + usage.completion_tokens] as const,
  ];
  return [...parts, pairs(counts)].join('\n\n');
}

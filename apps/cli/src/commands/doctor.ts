import type { ExaminationView, LiveView, ReadyView, StatsView } from '@slowwave/contracts';
import type { Examination } from '@slowwave/engine';
import type { z } from 'zod';
import { type Ask, withApi } from '../api.ts';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { pairs, table } from '../output.ts';
import { withStores } from '../stores.ts';

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
      call.out.answer({ ready, runs_on, stats }, statusText({ ready, runs_on, stats }));
      return ready.status === 'ok' ? EXIT.done : EXIT.unavailable;
    }),
};

/** null: the ledger does not answer. */
const statsOf = async (ask: Ask, ready: Ready): Promise<Stats | null> =>
  ready.checks.ledger?.ok === false ? null : ask<Stats>({ method: 'GET', path: '/v1/stats' });

function statusText({
  ready,
  runs_on,
  stats,
}: {
  ready: Ready;
  runs_on: Live['runs_on'];
  stats: Stats | null;
}): string {
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

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'Check the installation for problems and how to fix them.',
  about: `Looks at batches, lanes, memories, plans and the index while others work, and changes
nothing. Ends with 3 when a promise is broken; with --strict also when something else
deserves a look.`,
  options: {
    full: { value: null, about: 'Read everything instead of samples. Requires --offline.' },
    strict: { value: null, about: 'Exit with 3 for warnings, too.' },
  },
  run: async (call) => {
    const { given, out } = call;
    const found = isOffline(call) ? await offline(call) : await online(call);
    out.answer(found, doctorText(found));
    return !found.healthy || (given.flag('strict') && found.findings.length > 0) ? EXIT.findings : EXIT.done;
  },
};

function online(call: Call): Promise<ExaminationView> {
  if (call.given.flag('full')) {
    throw new UsageError(
      '--full reads everything, which takes longer than a request may; add --offline to read the stores directly',
      'doctor',
    );
  }
  return withApi(call, { writes: false }, (ask) => ask<ExaminationView>({ method: 'GET', path: '/v1/doctor' }));
}

const offline = ({ config, given, out, cancel }: Call): Promise<ExaminationView> =>
  withStores(config, async (stores) => {
    const progress = out.progress({ title: 'doctor', unit: 'looked at' });
    const depth = given.flag('full') ? 'full' : 'usual';
    const onProgress = (check: string, done: number, total: number): void => progress.update(done, total, check);
    const { examine } = await import('@slowwave/engine');
    try {
      return viewOf(await examine({ ...stores, index: await stores.index() }, { depth, cancel, onProgress }));
    } finally {
      progress.stop();
    }
  });

const viewOf = ({ at, depth, healthy, checks, findings }: Examination): ExaminationView => ({
  at: new Date(at).toISOString(),
  depth,
  healthy,
  checks: [...checks],
  findings: findings.map((finding) => ({ ...finding, examples: [...finding.examples] })),
});

function doctorText({ checks, findings, healthy }: ExaminationView): string {
  const list = table(
    [
      { name: 'check', of: ({ check }) => check },
      { name: 'looked at', of: ({ looked }) => looked },
      { name: 'findings', of: ({ findings }) => findings },
    ],
    checks,
  );
  const each = findings.map(
    ({ severity, what, examples, remedy }) =>
      `${severity}: ${what}${examples.length === 0 ? '' : `\n  e.g. ${examples.join(', ')}`}\n  → ${remedy}`,
  );
  const end = healthy
    ? findings.length === 0
      ? 'No problems found.'
      : 'No errors found, only warnings.'
    : 'Errors found.';
  return [list, ...each, end].join('\n\n');
}

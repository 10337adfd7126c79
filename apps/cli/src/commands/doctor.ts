import type { ExaminationView, LiveView, ModelView, ReadyView, StatsView } from '@slowwave/contracts';
import type { Backup, Examination } from '@slowwave/engine';
import type { z } from 'zod';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { pairs, table, tracked } from '../output.ts';
import { withStores } from '../stores.ts';

type Live = z.infer<typeof LiveView>;
type Ready = z.infer<typeof ReadyView>;
type Stats = z.infer<typeof StatsView>;

export const statusCommand: Command = {
  name: 'status',
  summary: 'Show what is running, whether it responds, and how many batches and memories there are.',
  about: 'Exits with 5 if something that the server depends on does not respond.',
  run: async ({ ask, get }) => {
    // It is an answer even if something is not ready.
    const ready = (await get('/readyz')) as Ready;
    const { runs_on } = await ask<Live>('GET', '/healthz');
    const stats = ready.checks.ledger?.ok === false ? null : await ask<Stats>('GET', '/v1/stats');
    // Only operators see it.
    const { results: models = [] } = stats === null ? {} : ((await get('/v1/models')) as { results?: ModelView[] });
    const value = { ready, runs_on, stats, models };
    return { value, text: statusText(value), exit: ready.status === 'ok' ? EXIT.done : EXIT.unavailable };
  },
};

interface Status {
  readonly ready: Ready;
  readonly runs_on: Live['runs_on'];
  /** null: the ledger does not respond. */
  readonly stats: Stats | null;
  readonly models: readonly ModelView[];
}

function statusText({ ready, runs_on, stats, models }: Status): string {
  const checks = Object.entries(ready.checks ?? {}).map(
    ([name, { ok, message }]) => [name, ok ? 'answers' : (message ?? 'does not answer')] as const,
  );
  const warnings = (ready.warnings ?? []).map((warning) => `warning: ${warning}`);
  const places = Object.entries(runs_on).map(([name, place]) => [name.replaceAll('_', ' '), place] as const);
  const parts = [pairs(checks), ...warnings, pairs(places)];
  if (stats === null) return parts.join('\n\n');
  const { batches, memories, owners, outbox, usage } = stats;
  const counts = [
    ...Object.entries(batches).map(([state, count]) => [`batches ${state}`, count] as const),
    ['memories', memories.live] as const,
    ['versions', memories.versions] as const,
    ['owners', owners] as const,
    ['not yet in the index', outbox] as const,
    ['model calls', usage.calls] as const,
    ['tokens', usage.prompt_tokens + usage.completion_tokens] as const,
  ];
  return [...parts, pairs(counts), ...modelsText(models)].filter((part) => part !== '').join('\n\n');
}

function modelsText(models: readonly ModelView[]): readonly string[] {
  const found = models.flatMap(({ model, findings }) => findings.map((finding) => ({ model, ...finding })));
  const known = table<(typeof found)[number]>(
    {
      model: 'model',
      property: ({ property }) => property.replaceAll('_', ' '),
      since: 'at',
      'what is known': ({ what, remedy }) => (remedy === null ? what : `${what}; ${remedy}`),
    },
    found,
  );
  const ends = models
    .map(({ use, model, steps, last_call }) => `${use} model ${model}${usesText(steps)} ${endOf(last_call)}`)
    .join('\n');
  return [ends, ...(found.length === 0 ? [] : [known])];
}

/** What it is asked for, also in place of others. */
function usesText(steps: ModelView['steps']): string {
  const uses = steps.map(({ step, place, asked }) =>
    place === 1 ? `${step}${asked ? '' : ': not now'}` : `fallback ${place - 1} of ${step}${asked ? ': now' : ''}`,
  );
  return uses.length === 0 ? '' : ` (${uses.join(', ')})`;
}

function endOf(last: ModelView['last_call']): string {
  if (last === null) return 'has not been called yet';
  return last.problem === null ? `answered at ${last.at}` : `failed at ${last.at}: ${last.problem.message}`;
}

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Check the installation for problems and how to fix them.',
  about: `Checks batches, lanes, memories, plans and the index while servers run, and changes
nothing. Exits with 3 for errors; with --strict also for warnings.`,
  options: {
    full: { value: null, about: 'Read everything instead of samples. Requires --offline.' },
    strict: { value: null, about: 'Exit with 3 for warnings, too.' },
  },
  run: async (call) => {
    const found = isOffline(call) ? await offline(call) : await online(call);
    const isWrong = !found.healthy || (call.given.flag('strict') && found.findings.length > 0);
    return { value: found, text: doctorText(found), exit: isWrong ? EXIT.findings : EXIT.done };
  },
};

function online({ given, ask }: Call): Promise<ExaminationView> {
  if (!given.flag('full')) return ask('GET', '/v1/doctor');
  throw new UsageError('--full takes longer than a request may; add --offline to read the stores directly', 'doctor');
}

const offline = ({ config, given, out, cancel }: Call): Promise<ExaminationView> =>
  withStores(config, (stores) =>
    tracked(out, { title: 'doctor', unit: 'checked' }, async ({ update }) => {
      const depth = given.flag('full') ? 'full' : 'usual';
      const onProgress = (check: string, done: number, total: number): void => update(done, total, check);
      const { examine } = await import('@slowwave/engine');
      const sleeping = await stores.openSleeping();
      const deps = { ...stores, ...(await stores.space()), ...(sleeping !== null && { sleeping }) };
      const examination = await examine(deps, { depth, cancel, onProgress });
      return viewOf(examination, await stores.ledger.overview.lastBackup());
    }),
  );

const viewOf = ({ at, depth, healthy, checks, findings }: Examination, backup: Backup | null): ExaminationView => ({
  at: new Date(at).toISOString(),
  depth,
  healthy,
  last_backup: backup && { at: new Date(backup.at).toISOString(), bytes: backup.bytes },
  checks: [...checks],
  findings: findings.map((finding) => ({ ...finding, examples: [...finding.examples] })),
});

function doctorText({ checks, findings, healthy }: ExaminationView): string {
  const list = table({ check: 'check', checked: 'looked', findings: 'findings' }, checks);
  const each = findings.map(
    ({ severity, what, examples, remedy }) =>
      `${severity}: ${what}${examples.length === 0 ? '' : `\n  e.g. ${examples.join(', ')}`}\n  → ${remedy}`,
  );
  const warnings = findings.length === 0 ? 'No problems found.' : 'No errors found, only warnings.';
  return [list, ...each, healthy ? warnings : 'Errors found.'].join('\n\n');
}

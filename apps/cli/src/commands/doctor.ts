import type { ExaminationView } from '@slowwave/contracts';
import type { Examination } from '@slowwave/engine';
import { withApi } from '../api/ask.ts';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { table } from '../output/table.ts';
import { withStores } from '../stores.ts';

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
    out.answer(found, told(found));
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

function told({ checks, findings, healthy }: ExaminationView): string {
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

import { type Call, type Command, countOf } from '../command.ts';
import { EXIT } from '../exit.ts';
import { budgetOf, MINUTE_MS, MINUTES_MAX, SYSTEM_CLOCK } from '../models/budget.ts';
import type { Trial } from '../models/trial.ts';
import { table, tracked } from '../output.ts';
import { quietLog } from '../stores.ts';

export const checkModelsCommand: Command = {
  name: 'models check',
  on: 'stores',
  summary: 'Test the configured models, and say how to fix what does not work.',
  about: `Needs no running server, and changes nothing: it reads the same settings as a server.
Sends the models about fifteen requests within a minute: first the quick and most
informative ones. For models of steps, images and fallbacks it checks whether they respond, and in which
format. Tests that a slow model had no time for are listed as not tried. Features that the ledger knows a
server does not accept are not tested again, unless you add --fresh. Exits with 1 if a
model does not work.`,
  options: {
    chat: { value: null, about: 'Only the chat models.' },
    embeddings: { value: null, about: 'Only the embedding model.' },
    minutes: { value: 'N', about: `Maximum duration in minutes, 1 to ${MINUTES_MAX}. Default: 1.` },
    fresh: { value: null, about: 'Also test what the ledger already knows.' },
  },
  run: async (call) => {
    const trials = await triedAs(call);
    const works = trials.every(({ verdict }) => verdict !== 'failed');
    return { value: { works, trials }, text: textOf(trials), exit: works ? EXIT.done : EXIT.failed };
  },
};

async function triedAs({ given, config, out, cancel }: Call): Promise<readonly Trial[]> {
  const all = given.flag('chat') === given.flag('embeddings');
  const wanted = { chat: all || given.flag('chat'), embeddings: all || given.flag('embeddings') };
  const minutes = countOf(given, 'minutes', { usual: 1, max: MINUTES_MAX });
  // What is loaded and opened first takes of the time, too: on a busy machine that is seconds.
  const budget = budgetOf(minutes * MINUTE_MS, { clock: SYSTEM_CLOCK, cancel });
  // The trials say themselves what a server would log.
  const log = await quietLog({ ...config, logLevel: 'error' });
  const { openKnownModels } = await import('@slowwave/adapters/assemble');
  const { tryModels } = await import('../models/check.ts');
  const known = given.flag('fresh') ? NOTHING_KNOWN : await openKnownModels(config, log);
  try {
    return await tracked(out, { title: 'models check', unit: 'trials' }, ({ update }) =>
      tryModels({ config, log, cancel, budget, known }, { ...wanted, progress: update }),
    );
  } finally {
    await known.close();
  }
}

const NOTHING_KNOWN = { get: async () => null, close: async () => {} };

function textOf(trials: readonly Trial[]): string {
  const list = table<Trial>(
    [
      { name: 'model', of: ({ model }) => model },
      { name: 'tried', of: ({ tried }) => tried },
      { name: 'verdict', of: ({ verdict }) => verdict },
      { name: 'what came', of: ({ came }) => came },
    ],
    trials,
  );
  return [list, ...trials.flatMap(sentenceOn)].join('\n\n');
}

/** What came and what to do about it, once for all trials of which that is to be said. An error says both itself. */
function sentenceOn({ tried, verdict, came, advice }: Trial): readonly string[] {
  if (advice === null) return [];
  return [verdict === 'failed' ? `${tried}: ${advice}` : `${tried}: ${came}; ${advice}`];
}

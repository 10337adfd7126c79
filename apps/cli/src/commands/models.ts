import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Trial } from '../models/trial.ts';
import { table } from '../output.ts';
import { quietLog } from '../stores.ts';

export const checkModelsCommand: Command = {
  name: 'models check',
  on: 'stores',
  summary: 'Try the configured models, and say what to do about what they cannot.',
  about: `Needs no running server and no ledger: it reads the same settings as a server. Asks the
models some ten questions, which takes about a minute with a slow one. Exits with 1 if a
model does not work.`,
  options: {
    chat: { value: null, about: 'Only the chat model.' },
    embeddings: { value: null, about: 'Only the embedding model.' },
  },
  run: async (call) => {
    const trials = await triedAs(call);
    const works = trials.every(({ verdict }) => verdict !== 'failed');
    return { value: { works, trials }, text: textOf(trials), exit: works ? EXIT.done : EXIT.failed };
  },
};

async function triedAs({ given, config, cancel }: Call): Promise<readonly Trial[]> {
  const all = given.flag('chat') === given.flag('embeddings');
  // The trials say themselves what a server would log.
  const log = await quietLog({ ...config, logLevel: 'error' });
  const { tryChat } = await import('../models/chat.ts');
  const { tryEmbeddings } = await import('../models/embeddings.ts');
  return [
    ...(all || given.flag('chat') ? await tryChat({ config, log, cancel }) : []),
    ...(all || given.flag('embeddings') ? await tryEmbeddings(config, log, cancel) : []),
  ];
}

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
  const advice = trials.flatMap(({ tried, advice }) => (advice === null ? [] : [`${tried}: ${advice}`]));
  return [list, ...advice].join('\n\n');
}

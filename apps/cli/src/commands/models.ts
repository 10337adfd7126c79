import type { Call, Command } from '../command.ts';
import { EXIT } from '../exit.ts';
import type { Trial } from '../models/trial.ts';
import { table, tracked } from '../output.ts';
import { quietLog } from '../stores.ts';

export const checkModelsCommand: Command = {
  name: 'models check',
  on: 'stores',
  summary: 'Try the configured models, and say what to do about what they cannot.',
  about: `Needs no running server and no ledger: it reads the same settings as a server. Asks the
models some fifteen questions, which takes about two minutes with a slow one. Exits with 1 if
a model does not work.`,
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

async function triedAs({ given, config, out, cancel }: Call): Promise<readonly Trial[]> {
  const all = given.flag('chat') === given.flag('embeddings');
  // The trials say themselves what a server would log.
  const log = await quietLog({ ...config, logLevel: 'error' });
  const { CHAT_TRIALS, tryChat } = await import('../models/chat.ts');
  const { EMBEDDING_TRIALS, tryEmbeddings } = await import('../models/embeddings.ts');
  const [chat, embeddings] = [all || given.flag('chat'), all || given.flag('embeddings')];
  return tracked(out, { title: 'models check', unit: 'trials' }, async ({ update }) => {
    let begun = 0;
    const most = (chat ? CHAT_TRIALS : 0) + (embeddings ? EMBEDDING_TRIALS : 0);
    const begin = (): void => update(begun++, most);
    const trying = { config, log, cancel, begin };
    return [...(chat ? await tryChat(trying) : []), ...(embeddings ? await tryEmbeddings(trying) : [])];
  });
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
  return [list, ...trials.flatMap(sentenceOn)].join('\n\n');
}

/** What came and what to do about it. An error says both itself. */
function sentenceOn({ tried, verdict, came, advice }: Trial): readonly string[] {
  if (advice === null) return [];
  return [verdict === 'failed' ? `${tried}: ${advice}` : `${tried}: ${came}; ${advice}`];
}

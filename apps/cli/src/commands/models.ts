import type { OpenEmbedder } from '@slowwave/adapters/assemble';
import type { Calibration, LanguageCosines } from '@slowwave/engine';
import { type Call, type Command, countOf } from '../command.ts';
import { EXIT } from '../exit.ts';
import { budgetOf, MINUTE_MS, MINUTES_MAX, SYSTEM_CLOCK, type Trial } from '../models/trial.ts';
import { type Output, table, tracked } from '../output.ts';
import { quietLog } from '../stores.ts';

export const modelCommands: readonly Command[] = [
  {
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
  },
  {
    name: 'models calibrate',
    on: 'stores',
    summary: 'Measure the distances of the embedding model between texts, and show the derived thresholds.',
    about: `Needs no running server and no ledger. Embeds built-in sentences in six languages, as a server
does when it first uses a model, and changes nothing. A model that knows a language puts questions
nearer to their answers than to other facts.`,
    run: async (call) => {
      const { calibrate } = await import('@slowwave/engine');
      const calibration = await withEmbedder(call, (embedder) => calibrate(embedder, call.cancel));
      return { value: calibration, text: calibrationText(calibration, call.config.embeddingModel === null) };
    },
  },
  {
    name: 'load embedder',
    on: 'stores',
    summary: 'Download and load the embedding model that runs in the process.',
    about: `For SLOWWAVE_EMBEDDING_MODEL=local. The model is downloaded to the data folder, where servers find
it, and tried once. If the command is stopped, run it again to continue. Servers do the same at startup.`,
    run: async (call) => {
      if (call.config.localModel === null) {
        const note = 'the configured embedding model does not run in the process, so there is nothing to load';
        return { value: { fingerprint: null, note }, text: note };
      }
      return withEmbedder(call, async ({ documents: { fingerprint, dimensions } }) => ({
        value: { fingerprint, dimensions },
        text: `${fingerprint} is loaded and answers.`,
      }));
    },
  },
];

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
  const list = table<Trial>({ model: 'model', tried: 'tried', verdict: 'verdict', 'what came': 'came' }, trials);
  return [list, ...trials.flatMap(sentenceOn)].join('\n\n');
}

/** What came and what to do about it, once for all trials of which that is to be said. An error says both itself. */
function sentenceOn({ tried, verdict, came, advice }: Trial): readonly string[] {
  if (advice === null) return [];
  return [verdict === 'failed' ? `${tried}: ${advice}` : `${tried}: ${came}; ${advice}`];
}

function calibrationText({ languages, near, pair, vectors }: Calibration, isBuiltin: boolean): string {
  const list = table<LanguageCosines>(
    {
      language: 'language',
      known: ({ isKnown, told }) => `${isKnown ? 'yes' : 'no'}, ${told.toFixed(2)}`,
      'unrelated facts': ({ unrelated, unrelatedMost }) => spread(unrelated, unrelatedMost),
      'a change': ({ updateLeast, update }) => spread(updateLeast, update),
      'other words': ({ same }) => same.toFixed(2),
      'other answers': ({ apart, apartMost }) => spread(apart, apartMost),
      'the answer': ({ answer }) => answer.toFixed(2),
    },
    languages,
  );
  if (isBuiltin) return `${list}\n\nServers use fixed values for the builtin vectors.`;
  const { words, wordsOfMessages, questions } = vectors;
  return `${list}

A fact may change a memory from a cosine of ${near.toFixed(2)} on, and two facts said together may be the same from ${pair.toFixed(2)} on.
Words have ${words.toFixed(2)} of the score of memories, and ${wordsOfMessages.toFixed(2)} of that of messages.
The cut reads ${questions.apart.toFixed(2)} as unrelated to a question, and ${questions.answer.toFixed(2)} as an answer.`;
}

const spread = (one: number, other: number): string => `${one.toFixed(2)} to ${other.toFixed(2)}`;

const MEGABYTE = 1_000_000;

/** The configured embedder, as soon as it can be asked. */
async function withEmbedder<T>({ config, out }: Call, work: (embedder: OpenEmbedder) => Promise<T>): Promise<T> {
  const { observe, openEmbedder } = await import('@slowwave/adapters/assemble');
  const log = await quietLog(config);
  const { meter } = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const embedder = await openEmbedder(config, log, { meter, models: null });
  try {
    await embedderLoaded(out, embedder.ready);
    return await work(embedder);
  } finally {
    await embedder.close();
  }
}

/** Waits until the embedder can be asked, and shows how far its download is. */
export const embedderLoaded = (out: Output, ready: OpenEmbedder['ready']): Promise<void> =>
  tracked(out, { title: 'download the embedding model', unit: 'MB' }, ({ update }) =>
    ready((done, total) => update(Math.floor(done / MEGABYTE), Math.ceil(total / MEGABYTE))),
  );

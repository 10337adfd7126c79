import type { Calibration, LanguageCosines } from '@slowwave/engine';
import type { Call, Command } from '../command.ts';
import { table } from '../output.ts';
import { quietLog } from '../stores.ts';
import { embedderLoaded } from './embedder.ts';

export const calibrateModelsCommand: Command = {
  name: 'models calibrate',
  on: 'stores',
  summary: 'Measure the distances of the embedding model between texts, and show the derived thresholds.',
  about: `Needs no running server and no ledger. Embeds built-in sentences in six languages, as a server
does when it first uses a model, and changes nothing. A model that knows a language puts questions
nearer to their answers than to other facts.`,
  run: async (call) => {
    const calibration = await calibrated(call);
    return { value: calibration, text: textOf(calibration, call.config.embeddingModel === null) };
  },
};

async function calibrated({ config, out, cancel }: Call): Promise<Calibration> {
  const { observe, openEmbedder } = await import('@slowwave/adapters/assemble');
  const { calibrate } = await import('@slowwave/engine');
  const log = await quietLog(config);
  const { meter } = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const embedder = await openEmbedder(config, log, { meter, models: null });
  try {
    await embedderLoaded(out, embedder.ready);
    return await calibrate(embedder, cancel);
  } finally {
    await embedder.close();
  }
}

function textOf({ languages, near, pair, vectors }: Calibration, isBuiltin: boolean): string {
  const list = table<LanguageCosines>(
    [
      { name: 'language', of: ({ language }) => language },
      { name: 'known', of: ({ isKnown, told }) => `${isKnown ? 'yes' : 'no'}, ${told.toFixed(2)}` },
      { name: 'unrelated facts', of: ({ unrelated, unrelatedMost }) => spread(unrelated, unrelatedMost) },
      { name: 'a change', of: ({ updateLeast, update }) => spread(updateLeast, update) },
      { name: 'other words', of: ({ same }) => same.toFixed(2) },
      { name: 'other answers', of: ({ apart, apartMost }) => spread(apart, apartMost) },
      { name: 'the answer', of: ({ answer }) => answer.toFixed(2) },
    ],
    languages,
  );
  if (isBuiltin) return `${list}\n\nServers use fixed values for the builtin vectors.`;
  const { words, wordsOfMessages, questions } = vectors;
  return `${list}

From a cosine of ${near.toFixed(2)} a memory may be what a fact changes, and of ${pair.toFixed(2)} one of two facts said together the other.
Words have ${words.toFixed(2)} of the score of memories, and ${wordsOfMessages.toFixed(2)} of that of messages.
The cut reads ${questions.apart.toFixed(2)} as unrelated to a question, and ${questions.answer.toFixed(2)} as an answer.`;
}

const spread = (one: number, other: number): string => `${one.toFixed(2)} to ${other.toFixed(2)}`;

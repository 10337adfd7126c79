import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { FULL_MANNERS, knownManners, openaiChat } from '@slowwave/adapters/openai';
import { type ChatModel, EngineError } from '@slowwave/engine';
import { startModelServer, startSmolLm } from '@slowwave/testkit';
import { ServerError } from '../../api.ts';
import { product } from '../../product.ts';
import type { Outputs } from '../../terminal.ts';
import { EXIT } from '../options.ts';
import { withExitCode } from '../program.ts';
import { type Measured, measure, someOf, type Trial } from './measure.ts';
import { PROMPTS_HELP, type PromptOptions, readPromptOptions } from './options.ts';
import { rowsOf, tableOf, withRows } from './table.ts';
import { VARIANTS } from './variants.ts';

const PAGE = resolve(import.meta.dirname, '../../../../../docs/prompts.md');
/** Questions at once to a server. */
const AT_ONCE = 8;
/** A small model on a busy machine takes its time. */
const TIMEOUT_MS = 15 * 60_000;

/** The whole program; answers with its exit code. */
export const prompts = (args: readonly string[], outputs: Outputs): Promise<number> =>
  withExitCode({ outputs, command: './scripts/evaluate prompts' }, async () => {
    // biome-ignore lint/style/noProcessEnv: a key on the command line can be read by others
    const options = readPromptOptions(args, process.env.OPENAI_API_KEY ?? null);
    if (options === null) {
      outputs.result(PROMPTS_HELP);
      return EXIT.passed;
    }
    const { server, sentences, json, write } = options;
    const model = rowNameOf(options);
    const trial = {
      conversations: someOf(sentences),
      atOnce: server === null ? 1 : AT_ONCE,
      progress: outputs.progress,
    };
    const measured = await withModel(options, (chat) => measureAll({ ...trial, chat }));
    outputs.progress(null);
    const rows = rowsOf(model, measured);
    if (write) await writeFile(PAGE, withRows(await readFile(PAGE, 'utf8'), { model, rows }));
    outputs.result(json ? `${JSON.stringify({ model, measured }, null, 2)}\n` : tableOf(rows));
    return EXIT.passed;
  });

/** Under another form of answers a model is another one. */
const rowNameOf = ({ model, format }: PromptOptions): string =>
  format === 'json_schema' ? model : `${model}, asked for ${format}`;

async function withModel<T>(
  { server, model, format }: PromptOptions,
  work: (chat: ChatModel) => Promise<T>,
): Promise<T> {
  const at = (place: { readonly baseUrl: string; readonly apiKey: string | null }): ChatModel =>
    openaiChat({
      ...{ ...place, model, timeoutMs: TIMEOUT_MS, log: product.log },
      manners: knownManners({ ...FULL_MANNERS, format }),
    });
  if (server !== null) return work(at(server));
  const small = await startSmolLm();
  const own = await startModelServer({ script: small.script });
  try {
    return await work(at({ baseUrl: own.baseUrl, apiKey: null }));
  } finally {
    await own.close();
    await small.close();
  }
}

async function measureAll(trial: Trial): Promise<readonly Measured[]> {
  const all: Measured[] = [];
  try {
    for (const variant of VARIANTS) all.push(await measure(trial, variant));
  } catch (error) {
    if (error instanceof EngineError) throw new ServerError(error.message);
    throw error;
  }
  return all;
}

import { basename } from 'node:path';
import { type OwnServer, startOwnServer } from '@slowwave/testkit';
import { apiAt } from '../../api.ts';
import type { Outputs } from '../../terminal.ts';
import { EXIT } from '../options.ts';
import { readAs, untilReady, withExitCode } from '../program.ts';
import { readCorpus } from './corpus.ts';
import { RETRIEVAL_HELP, type RetrievalOptions, readRetrievalOptions } from './options.ts';
import { question } from './question.ts';
import { type RetrievalReport, reportOf, retrievalTable, say } from './report.ts';

/** The whole program; answers with its exit code. */
export const retrieval = (args: readonly string[], outputs: Outputs): Promise<number> =>
  withExitCode({ outputs, command: './scripts/evaluate retrieval' }, async () => {
    const options = readRetrievalOptions(args);
    if (options === null) {
      outputs.result(RETRIEVAL_HELP);
      return EXIT.passed;
    }
    const report = await measure(options, outputs);
    outputs.result(options.json ? `${JSON.stringify(report, null, 2)}\n` : retrievalTable(report, options.misses));
    return report.passed ? EXIT.passed : EXIT.below;
  });

async function measure(options: RetrievalOptions, outputs: Outputs): Promise<RetrievalReport> {
  const corpus = await readAs(options.file, readCorpus);
  const { mode, search, progress } = { ...options, progress: outputs.progress };
  const settings = modelSettings();
  const models = options.start ? modelsIn(settings) : `those of ${options.url}`;
  let server: OwnServer | null = null;
  try {
    if (options.start) {
      outputs.note(`Starting a server of its own, with ${models} …`);
      server = await startOwnServer(settings);
    }
    const api = apiAt(server?.url ?? options.url, options.apiKey);
    await untilReady(api, outputs);
    const began = Date.now();
    const userOf = (user: string): string => `${options.userPrefix}-${began.toString(36)}-${user}`;
    await say({
      api,
      corpus,
      userOf,
      mode: mode === 'facts' ? 'decide' : 'verbatim',
      deadline: began + options.timeoutMs,
      progress,
    });
    const answers = await question({ api, corpus, userOf, mode: search, progress });
    progress(null);
    const about = {
      name: corpus.name,
      models,
      users: corpus.conversations.length,
      messages: corpus.conversations.flatMap(({ sessions }) => sessions.flatMap(({ messages }) => messages)).length,
      seconds: (Date.now() - began) / 1_000,
      mode,
      search,
    };
    return reportOf(about, answers, options.atLeast);
  } finally {
    await server?.close();
  }
}

/** A server of its own uses the models of the environment, or the builtin ones. */
const modelSettings = (): Record<string, string> =>
  Object.fromEntries(
    // biome-ignore lint/style/noProcessEnv: where models are, and their keys, is known to who starts this
    Object.entries(process.env).flatMap(([name, value]) =>
      /^(?:OPENAI|SLOWWAVE_(?:CHAT|EMBEDDING|RERANK|MODEL))_/.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );

export const BUILTIN_MODELS = 'the builtin models';

/** Without a key: it is printed. */
function modelsIn({
  OPENAI_API_KEY,
  OPENAI_BASE_URL,
  SLOWWAVE_CHAT_MODEL,
  SLOWWAVE_EMBEDDING_MODEL,
}: Record<string, string>): string {
  if (OPENAI_API_KEY === undefined && OPENAI_BASE_URL === undefined) {
    const isLocal = SLOWWAVE_EMBEDDING_MODEL?.startsWith('local') === true;
    return isLocal ? `the builtin model and the embedder ${basename(SLOWWAVE_EMBEDDING_MODEL)}` : BUILTIN_MODELS;
  }
  const named = [SLOWWAVE_CHAT_MODEL, SLOWWAVE_EMBEDDING_MODEL].filter((name) => name !== undefined);
  return `${named.length === 0 ? 'the default models' : named.join(' and ')} of ${OPENAI_BASE_URL ?? 'OpenAI'}`;
}

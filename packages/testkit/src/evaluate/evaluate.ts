import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, apiAt, ServerError } from '../api.ts';
import { perfectModel } from '../model-server/perfect-model.ts';
import { type ModelServer, startModelServer } from '../model-server/server.ts';
import { courseOf } from './course.ts';
import { drive } from './drive.ts';
import { gatherEvidence } from './evidence.ts';
import { GATES } from './gates/index.ts';
import { EXIT, HELP, type Options, readOptions, UsageError } from './options.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import { type Report, tableOf } from './report.ts';
import { readWorld, type World, WorldError } from './world.ts';

/** Where things are said: results, and what a person watching wants to know. */
export interface Outputs {
  readonly result: (text: string) => void;
  readonly note: (text: string) => void;
  /** Replaces the last progress; null takes it away. */
  readonly progress: (text: string | null) => void;
}

/** The whole program; answers with its exit code. */
export async function evaluate(args: readonly string[], outputs: Outputs): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === null) {
      outputs.result(HELP);
      return EXIT.passed;
    }
    const report = await judge(options, outputs);
    outputs.result(options.json ? `${JSON.stringify(report, null, 2)}\n` : tableOf(report));
    return report.passed ? EXIT.passed : EXIT.below;
  } catch (error) {
    outputs.progress(null);
    const code = codeOf(error);
    if (code === null) throw error;
    const hint = error instanceof UsageError ? ' ./scripts/evaluate --help shows what can be said.' : '';
    outputs.note(`${(error as Error).message}.${hint}`);
    return code;
  }
}

function codeOf(error: unknown): number | null {
  if (error instanceof UsageError || error instanceof WorldError) return EXIT.usage;
  return error instanceof ServerError ? EXIT.server : null;
}

async function judge(options: Options, outputs: Outputs): Promise<Report> {
  const world = await readFileOf(options.file);
  const course = courseOf(world);
  const model = await openModel(options, perfectModel(course));
  let server: OwnServer | null = null;
  try {
    const settings = { OPENAI_BASE_URL: model.baseUrl, SLOWWAVE_EMBEDDING_MODEL: 'builtin' };
    outputs.note(noteOn(options, settings));
    if (options.start) server = await startOwnServer(settings);
    const api = apiAt(server?.url ?? options.url, options.apiKey);
    await untilReady(api, outputs);
    const user = `${options.userPrefix}-${Date.now().toString(36)}`;
    const began = performance.now();
    const { oneByOne, timeoutMs: withinMs } = options;
    const posted = await drive({ api, world, user, oneByOne, withinMs, progress: outputs.progress });
    if (model.calls.length === 0) throw new ServerError(NOT_ASKED);
    const seconds = (performance.now() - began) / 1_000;
    outputs.progress('asking for what came of it');
    const evidence = await gatherEvidence({ api, user, world, course });
    const gates = GATES.map((gate) => gate({ world, course, evidence, posted, calls: model.calls }));
    outputs.progress(null);
    return { world: world.name, user, seconds, passed: gates.every(({ passed }) => passed), gates };
  } finally {
    await server?.close();
    await model.close();
  }
}

const READY_WITHIN_MS = 60_000; // time to start it, once the settings are known
const LOOK_AGAIN_MS = 250;

async function untilReady(api: Api, { progress }: Outputs): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      return void (await api.get('/readyz'));
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    progress(`waiting for the server, up to ${READY_WITHIN_MS / 1_000} s`);
    await sleep(LOOK_AGAIN_MS);
  }
}

const NOT_ASKED = 'the server never asked the scripted model; start it with the settings shown above';

async function readFileOf(path: string): Promise<World> {
  try {
    return readWorld(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof WorldError) throw new WorldError(`${path}: ${error.message}`);
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

async function openModel({ modelPort }: Options, script: ReturnType<typeof perfectModel>): Promise<ModelServer> {
  try {
    return await startModelServer({ script, port: modelPort });
  } catch (error) {
    throw new UsageError(
      `the scripted model cannot listen on port ${modelPort}: ${error instanceof Error ? error.message : error}; ` +
        'choose another with --model-port',
    );
  }
}

const noteOn = ({ start, url }: Options, settings: Readonly<Record<string, string>>): string =>
  start
    ? 'Starting a server of its own with the scripted model …'
    : `The server at ${url} has to run with these settings (start it now if it does not run yet):\n${Object.entries(
        settings,
      )
        .map(([name, value]) => `  ${name}=${value}`)
        .join('\n')}`;

import { type ModelServer, type OwnServer, startModelServer, startOwnServer } from '@slowwave/testkit';
import { aligned } from '../aligned.ts';
import { apiAt, ServerError } from '../api.ts';
import { UsageError } from '../arguments.ts';
import { perfectModel } from '../perfect-model.ts';
import type { Outputs } from '../terminal.ts';
import { courseOf, drive } from './course.ts';
import { gatherEvidence } from './evidence.ts';
import { GATES, type GateResult } from './gates.ts';
import { EXIT, HELP, type Options, readOptions } from './options.ts';
import { readAs, untilReady, withExitCode } from './program.ts';
import { readWorld } from './world.ts';

/** The whole program; answers with its exit code. */
export const evaluate = (args: readonly string[], outputs: Outputs): Promise<number> =>
  withExitCode({ outputs, command: './scripts/evaluate' }, async () => {
    const options = readOptions(args);
    if (options === null) {
      outputs.result(HELP);
      return EXIT.passed;
    }
    const report = await judge(options, outputs);
    outputs.result(options.json ? `${JSON.stringify(report, null, 2)}\n` : tableOf(report));
    return report.passed ? EXIT.passed : EXIT.below;
  });

async function judge(options: Options, outputs: Outputs): Promise<Report> {
  const world = await readAs(options.file, readWorld);
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

const NOT_ASKED = 'the server never asked the scripted model; start it with the settings shown above';

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

const MISSES_SHOWN = 5;

interface Report {
  readonly world: string;
  readonly user: string;
  readonly seconds: number;
  readonly passed: boolean;
  readonly gates: readonly GateResult[];
}

/** The gates as a table, with the first misses of those below target. */
function tableOf(report: Report): string {
  const rows = report.gates.map((gate) => [
    gate.passed ? 'pass' : 'FAIL',
    gate.gate,
    gate.what,
    gate.figures,
    gate.target,
  ]);
  const lines = aligned([['', 'gate', 'what', 'reached', 'target'], ...rows]);
  const misses = report.gates.filter(({ passed }) => !passed).flatMap(missesOf);
  const below = report.gates.filter(({ passed }) => !passed).map(({ gate }) => gate);
  const verdict = below.length === 0 ? 'all targets reached' : `below target: ${below.join(', ')}`;
  const summary = `${report.world} as ${report.user}: ${verdict}, in ${report.seconds.toFixed(1)} s`;
  return `${[...lines, ...misses, '', summary].join('\n')}\n`;
}

function missesOf({ gate, misses }: GateResult): string[] {
  const more = misses.length - MISSES_SHOWN;
  const lines = misses.slice(0, MISSES_SHOWN).map((miss) => `  ${miss}`);
  return ['', `${gate}:`, ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])];
}

import { readStandaloneConfig } from '@slowwave/adapters/config';
import { EngineError } from '@slowwave/engine/storing';
import type { Command, Given } from './command.ts';
import { EXIT } from './exit.ts';
import { commandHelp, programHelp } from './help.ts';
import { output, type Stream } from './output/output.ts';
import { parse } from './parse.ts';

/** What a run has of the world around it. */
export interface Surroundings {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly cancel: AbortSignal;
  /** Settings; by default those of the process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Does what a command line asks for. Answers with what the program ends with. */
export async function run(
  args: readonly string[],
  commands: readonly Command[],
  around: Surroundings,
): Promise<number> {
  const json = args.includes('--json');
  try {
    const asked = parse(args, commands);
    if (asked.kind === 'help') {
      around.stdout.write(asked.command === null ? programHelp(commands) : commandHelp(asked.command));
      return EXIT.done;
    }
    const { command, given } = asked;
    const config = readStandaloneConfig(settingsOf(given), around.environment);
    return await command.run({ given, config, out: output({ ...around, json }), cancel: around.cancel });
  } catch (error) {
    if (around.cancel.aborted) return EXIT.interrupted;
    around.stderr.write(told(error, json));
    return exitCodeOf(error);
  }
}

/** Options that stand for settings. */
function settingsOf(given: Given): Record<string, string> {
  const named = { SLOWWAVE_URL: given.text('server'), SLOWWAVE_DATA_DIR: given.text('data-dir') };
  return Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

function told(error: unknown, json: boolean): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!json) return `${message}\n`;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
  return `${JSON.stringify({ error: { code, message } })}\n`;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof EngineError) return error.retryable ? EXIT.unavailable : EXIT.failed;
  const has = error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number';
  return has ? (error.exitCode as number) : EXIT.failed;
}

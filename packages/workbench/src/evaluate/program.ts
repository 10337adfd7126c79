import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, ServerError } from '../api.ts';
import { UsageError } from '../arguments.ts';
import type { Outputs } from '../terminal.ts';
import { EXIT } from './options.ts';
import { WorldError } from './world.ts';

/** Runs a program; what is the caller's or the server's fault is said in a sentence and becomes an exit code. */
export async function withExitCode(
  { outputs, command }: { readonly outputs: Outputs; readonly command: string },
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    outputs.progress(null);
    const code = codeOf(error);
    if (code === null) throw error;
    const hint = error instanceof UsageError ? ` ${command} --help shows what can be said.` : '';
    outputs.note(`${(error as Error).message}.${hint}`);
    return code;
  }
}

function codeOf(error: unknown): number | null {
  if (error instanceof UsageError || error instanceof WorldError) return EXIT.usage;
  return error instanceof ServerError ? EXIT.server : null;
}

/** Reads a file of a known form. */
export async function readAs<T>(path: string, read: (json: string) => T): Promise<T> {
  try {
    return read(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof WorldError) throw new WorldError(`${path}: ${error.message}`);
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

const READY_WITHIN_MS = 60_000; // time to start it, once the settings are known
const LOOK_AGAIN_MS = 250;

export async function untilReady(api: Api, { progress }: Outputs): Promise<void> {
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

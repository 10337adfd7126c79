import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The repository. */
export const ROOT = resolve(import.meta.dirname, '../../..');

export interface HowToRun {
  readonly env?: Readonly<Record<string, string>>;
  /** The program's option for a file to write the report to. Missing: it prints the report. */
  readonly fileOption?: string;
}

/** Runs a program of the repository and reads its report, which is JSON. Programs end with 1 when they found something; their report says what. */
export async function reportOf(command: readonly string[], { env = {}, fileOption }: HowToRun = {}): Promise<unknown> {
  if (fileOption === undefined) return reported(command, env, async (printed) => printed);
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-report-'));
  try {
    const file = join(folder, 'report.json');
    return await reported([...command, `${fileOption}=${file}`], env, () => readFile(file, 'utf8').catch(() => ''));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function reported(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  reportIn: (printed: string) => Promise<string>,
): Promise<unknown> {
  const child = spawn(resolve(ROOT, program), args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    // biome-ignore lint/style/noProcessEnv: the programs are given what this one was given
    env: { ...process.env, ...env },
  });
  const stop = (): void => void child.kill();
  process.once('exit', stop);
  try {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const code = await new Promise((done, failed) => child.once('error', failed).once('close', done));
    return parsed(await reportIn(output), `expected ${program} to print a report, got exit code ${code}`);
  } finally {
    process.off('exit', stop);
  }
}

function parsed(output: string, otherwise: string): unknown {
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new Error(`${otherwise} and ${JSON.stringify(output.slice(0, 200))}`, { cause });
  }
}

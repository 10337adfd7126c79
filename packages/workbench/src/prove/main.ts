import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { HowToRun, Tools } from './proof.ts';
import { PROOFS } from './proofs.ts';
import { prove } from './prove.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const PAGE = join(ROOT, 'docs/proofs.md');
const ISO_DAY = 10; // letters of YYYY-MM-DD

const note = (text: string): void => void process.stderr.write(`${text}\n`);
const git = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trim();

const tools: Tools = { json, withCheckout };

process.exitCode = await prove(process.argv.slice(2), PROOFS, {
  result: (text) => void process.stdout.write(text),
  note,
  tools,
  commit: async () => {
    const changed = (await git('status', '--porcelain')) !== '';
    return `${await git('rev-parse', '--short', 'HEAD')}${changed ? ', changed' : ''}`;
  },
  today: () => new Date().toISOString().slice(0, ISO_DAY),
  rewrite: async (change) => writeFile(PAGE, change(await readFile(PAGE, 'utf8'))),
});

/** Programs end with 1 when they found something; their report says what. */
async function json(command: readonly string[], { env = {}, fileOption }: HowToRun = {}): Promise<unknown> {
  note(`running ${command.join(' ')}`);
  if (fileOption === undefined) return reported(command, env, async (printed) => printed);
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-prove-'));
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
  reportOf: (printed: string) => Promise<string>,
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
    return reportIn(await reportOf(output), `expected ${program} to print a report, got exit code ${code}`);
  } finally {
    process.off('exit', stop);
  }
}

function reportIn(output: string, otherwise: string): unknown {
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new Error(`${otherwise} and ${JSON.stringify(output.slice(0, 200))}`, { cause });
  }
}

async function withCheckout<T>(commit: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-prove-'));
  try {
    await git('worktree', 'add', '--detach', '--force', folder, commit);
    return await work(folder);
  } finally {
    await git('worktree', 'remove', '--force', folder).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

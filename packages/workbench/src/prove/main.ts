import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type HowToRun, ROOT, reportOf } from '../programs.ts';
import type { Tools } from './proof.ts';
import { PROOFS } from './proofs.ts';
import { prove } from './prove.ts';

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

/** Says what runs, which takes a while. */
function json(command: readonly string[], how?: HowToRun): Promise<unknown> {
  note(`running ${command.join(' ')}`);
  return reportOf(command, how);
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

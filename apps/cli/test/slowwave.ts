import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openSqliteLedger } from '@slowwave/adapters/sqlite';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, type Ledger } from '@slowwave/engine';
import { added, home, scope, user } from '@slowwave/engine-testing';
import { COMPILE_CACHE, programFile } from '@slowwave/testkit';
import { COMMANDS } from '../src/commands/index.ts';
import { run } from '../src/run.ts';

export const MAIN = programFile('cli');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The answer in JSON; only where --json was given. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of many shapes and assert what they find
  json(): any;
}

type Settings = Readonly<Record<string, string>>;

/** What the program does with these words, in this process: it starts in no time. */
export async function slowwave(args: readonly string[], environment: Settings = {}): Promise<Ended> {
  const written = { out: '', err: '' };
  const code = await run(args, COMMANDS, {
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    cancel: new AbortController().signal,
    environment,
  });
  return { code, ...written, json: () => JSON.parse(written.out) };
}

/** Runs the program itself to its end, which it comes to only when it leaves nothing open. */
export async function program(args: readonly string[], env: Settings = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number | null];
  return { code, out, err, json: () => JSON.parse(out) };
}

/** A ledger in a folder, as a server would have made it. */
export const openLedgerIn = (folder: string): Promise<Ledger> =>
  openSqliteLedger({ path: join(folder, 'ledger.db'), tools: systemTools });

/** Writes memories with different texts, as callers of the API do. */
export async function writeMemories(ledger: Ledger, count: number, userId = 'ann'): Promise<void> {
  const inScope = scope({ userId });
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, user(userId), systemTools.now());
  const changes = Array.from({ length: count }, (_, i) =>
    added(systemTools, home(lane, { scope: inScope }), { text: `${userId} likes thing number ${i}` }),
  );
  const written = await ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: systemTools.now() });
  if (written.kind !== 'written') throw new Error('expected the memories to be written, got a conflict');
}

import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@slowwave/testkit';
import type { Outcome, Proof, Tools } from './proof.ts';
import { suites } from './suites.ts';

const run = promisify(execFile);
/** The tests that start programs. */
const PROGRAMS = ['apps/standalone/test', 'apps/cli/test', 'infra/npm'];
const NEEDS_QDRANT = '**/import-qdrant.test.ts';
const A_MINUTE = 60;
const GIVES_UP_MS = 300_000;
const POLL_MS = 200;

/** The package as strangers get it: installed by npm into an empty folder, from an empty cache. */
export const npmPackage: Proof = {
  name: 'package',
  proves:
    'The npm package, installed into an empty folder with an empty cache, has its first memory within a minute and passes the integration tests of the programs.',
  takes: '10 minutes',
  flags: {},
  run: async (_given, tools) => {
    const folder = await mkdtemp(join(tmpdir(), 'slowwave-installed-'));
    try {
      return await proved(folder, tools);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function proved(folder: string, tools: Tools): Promise<Outcome> {
  const { archives } = (await tools.json(['scripts/pack', '--out', join(folder, 'archives'), '--json'])) as {
    archives: readonly string[];
  };
  const archive = archives.find((path) => /slowwave-\d[^/]*$/.test(path)) ?? '';
  const seconds = await firstMemory(folder, archive);
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const installed = await install(folder, archive);
  const env = { TESTED_PROGRAMS: installed };
  const tests = await suites(tools, env, [...PROGRAMS, '--exclude', NEEDS_QDRANT]);
  return {
    figure: `first memory after ${seconds.toFixed(0)} s; ${tests.figure}`,
    failures: [
      ...(seconds > A_MINUTE ? [`the first memory took ${seconds.toFixed(0)} s, expected at most ${A_MINUTE}`] : []),
      ...tests.failures,
    ],
    report: { seconds, tests: tests.report },
  };
}

/** With what runs a local embedding model, which some tests need and npm leaves to whoever wants it. */
async function install(folder: string, archive: string): Promise<string> {
  const npm = (...packages: readonly string[]) =>
    run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
      cwd: folder,
      env: npmIn(folder),
    });
  await npm(archive);
  const installed = join(folder, 'node_modules/slowwave');
  const { peerDependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    peerDependencies: Record<string, string>;
  };
  await npm(...Object.entries(peerDependencies).map(([name, version]) => `${name}@${version}`));
  return installed;
}

/** npm has downloaded nothing yet, and Slowwave has no data. */
const npmIn = (folder: string): NodeJS.ProcessEnv => ({
  // biome-ignore lint/style/noProcessEnv: npm is given what this program was given
  ...process.env,
  // With the Node.js that runs this.
  // biome-ignore lint/style/noProcessEnv: it is found first
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  SLOWWAVE_DATA_DIR: join(folder, 'data'),
  npm_config_cache: join(folder, 'cache'),
});

/** Seconds from npx to a memory that is found. */
async function firstMemory(folder: string, archive: string): Promise<number> {
  const cwd = join(folder, 'empty');
  await mkdir(cwd);
  const port = await freePort();
  const began = performance.now();
  // npx takes a path from the root on for a command.
  const args = ['-y', relative(cwd, archive), 'start', '--port', String(port)];
  // A group of its own: npx does not hand on what ends it.
  const child = spawn('npx', args, { cwd, env: npmIn(folder), detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`expected npx to start the server, got exit code ${child.exitCode}`);
      if (await remembers(`http://127.0.0.1:${port}`)) return (performance.now() - began) / 1_000;
      if (performance.now() - began > GIVES_UP_MS) throw new Error('expected a memory within five minutes, got none');
      await sleep(POLL_MS);
    }
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
  }
}

async function remembers(url: string): Promise<boolean> {
  const said = { user_id: 'ana', flush: true, messages: 'I moved from Lisbon to Oslo.' };
  const asked = { user_id: 'ana', query: 'where does she live?' };
  try {
    await answerOf(`${url}/v1/batches?wait=5000`, said);
    return JSON.stringify(await answerOf(`${url}/v1/search`, asked)).includes('Oslo');
  } catch {
    return false; // not listening yet
  }
}

async function answerOf(url: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

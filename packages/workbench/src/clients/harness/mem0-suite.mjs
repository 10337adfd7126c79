/** mem0's own integration tests of its client for JavaScript, from a checkout of mem0 (MEM0_CHECKOUT), as they are. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from './calls.mjs';

const folder = process.argv[2];
const suite = join(folder, 'mem0-ts');
const report = join(folder, 'report.json');
await cp(join(env.MEM0_CHECKOUT, 'mem0-ts'), suite, { recursive: true });
const { version } = JSON.parse(await readFile(join(suite, 'package.json'), 'utf8'));

const jest = join(folder, 'node_modules/jest/bin/jest.js');
const args = ['--config', 'jest.integration.config.js', '--forceExit', '--json', '--outputFile', report];
const preload = `--require ${join(import.meta.dirname, 'as-mem0.cjs')}`;
const child = spawn(process.execPath, [jest, ...args], {
  cwd: suite,
  env: { ...env, NODE_OPTIONS: preload },
  stdio: ['ignore', 'ignore', 'inherit'],
});
await once(child, 'close');

const { testResults } = JSON.parse(await readFile(report, 'utf8'));
const calls = testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .map(({ title, status, failureMessages: [why = 'it did not run'] }) => ({
    call: title,
    ...(status !== 'passed' && { error: why.split('\n')[0] }),
  }));
process.stdout.write(`${JSON.stringify({ version, calls })}\n`);

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from './clients.ts';
import { type ClientReport, reportIn } from './report.ts';

const run = promisify(execFile);

const HARNESS = resolve(import.meta.dirname, 'harness');
const INSTALL_MS = 10 * 60_000;
const CALLS_MS = 10 * 60_000;
const OUTPUT_MAX = 16 * 1024 * 1024; // bytes

/** A server of ours that mem0's clients are pointed at. */
export interface Host {
  readonly url: string;
  readonly key: string;
  /** Where mem0's repository is checked out, for its own tests. */
  readonly checkout?: string | undefined;
}

/** Work with a client that is installed in a folder of its own, which is gone afterwards. */
export async function tryClient(client: Client, host: Host): Promise<ClientReport> {
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-client-'));
  try {
    const program = await (client.registry === 'PyPI' ? inVenv : withNpm)(folder, client);
    const env = {
      ...inherited(),
      HOME: folder,
      MEM0_HOST: host.url,
      MEM0_API_KEY: host.key,
      MEM0_TELEMETRY: 'false',
      MEM0_CHECKOUT: host.checkout,
    };
    const [file, ...args] = program;
    const { stdout } = await run(file, args, { cwd: folder, env, timeout: CALLS_MS, maxBuffer: OUTPUT_MAX });
    return reportIn(client.name, stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Program = readonly [file: string, ...args: string[]];

async function inVenv(folder: string, { packages, harness }: Client): Promise<Program> {
  const venv = join(folder, 'venv');
  await run('python3', ['-m', 'venv', venv], { timeout: INSTALL_MS }).catch((cause) => {
    throw new Error(
      'expected python3 with venv and pip (on Debian: python3-venv), which could not make an environment',
      {
        cause,
      },
    );
  });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  await run(join(venv, 'bin/python'), pip, { timeout: INSTALL_MS, maxBuffer: OUTPUT_MAX });
  return [join(venv, 'bin/python'), join(HARNESS, harness)];
}

/** Without the programs that packages would build: none is needed to call an API. */
async function withNpm(folder: string, { packages, harness }: Client): Promise<Program> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const npm = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', '--ignore-scripts', ...packages];
  await run('npm', npm, { cwd: folder, timeout: INSTALL_MS, maxBuffer: OUTPUT_MAX });
  return [process.execPath, join(HARNESS, harness), folder];
}

function inherited(): NodeJS.ProcessEnv {
  // biome-ignore lint/style/noProcessEnv: programs are found, and registries are reached, as by this one
  return process.env;
}

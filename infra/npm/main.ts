import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ROOT, writePackage } from './package.ts';

const HELP = `Usage: ./scripts/pack [--out FOLDER] [--json]
       ./scripts/pack --folder FOLDER

Makes what npm publishes, as archives in a folder (dist): slowwave, which has all programs as JavaScript, and the packages for
applications. With --folder, makes slowwave alone and leaves it unpacked, as the image needs it.

  npx ./dist/slowwave-VERSION.tgz start
`;

const run = promisify(execFile);

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist' },
    folder: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help === true) process.stdout.write(HELP);
else if (values.folder !== undefined) await writePackage(resolve(values.folder));
else await packAll(resolve(values.out), values.json === true);

async function packAll(out: string, json: boolean): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), 'slowwave-package-'));
  try {
    await writePackage(folder);
    await run('npm', ['pack', '--pack-destination', out], { cwd: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const { packageManager } = await manifestIn(ROOT);
  for (const name of await forApplications()) {
    await run('npx', ['-y', String(packageManager), 'pack', '--pack-destination', out], { cwd: name });
  }
  const archives = (await readdir(out)).map((name) => join(out, name)).sort();
  process.stdout.write(json ? `${JSON.stringify({ archives })}\n` : `${archives.join('\n')}\n`);
}

/** Folders of packages that are not private. */
async function forApplications(): Promise<string[]> {
  const folders = (await readdir(join(ROOT, 'packages'))).map((name) => join(ROOT, 'packages', name));
  const kept = await Promise.all(folders.map(async (folder) => (await manifestIn(folder)).private !== true));
  return folders.filter((_folder, i) => kept[i]);
}

async function manifestIn(folder: string): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
}

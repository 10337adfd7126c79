import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { expectLater, namesVersion, ReleaseError, withRelease, withVersion } from './versions.ts';

const HELP = `Usage: ./scripts/release VERSION [--dry-run]

Makes a release but does not publish it: writes the version everywhere and the day into CHANGELOG.md, runs all tests, packs the npm
packages and the Python wheel, tries the npm package as strangers get it, commits, and sets a tag. What is left is printed at the end.

  --dry-run    says what would be written, and writes nothing
`;
const ROOT = resolve(import.meta.dirname, '../..');
const ISO_DAY = 10; // letters of YYYY-MM-DD

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  allowPositionals: true,
});
const [version, ...others] = positionals;
try {
  if (values.help === true) process.stdout.write(HELP);
  else if (version === undefined || others.length > 0) throw new ReleaseError(`expected one version\n\n${HELP}`);
  else await release(version, values['dry-run'] === true);
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  say(error.message);
  process.exitCode = 2;
}

async function release(next: string, dryRun: boolean): Promise<void> {
  const { version: last } = JSON.parse(await text('package.json')) as { version: string };
  expectLater(next, last);
  if (!dryRun && (await git('status', '--porcelain')) !== '')
    throw new ReleaseError('expected nothing to be uncommitted');
  const day = new Date().toISOString().slice(0, ISO_DAY);
  const changes = new Map([['CHANGELOG.md', withRelease(await text('CHANGELOG.md'), next, day)]]);
  for (const path of (await git('ls-files')).split('\n').filter(namesVersion)) {
    const before = await text(path);
    const after = withVersion(before, last, next);
    if (after !== before) changes.set(path, after);
  }
  say(`${last} → ${next} in ${changes.size} files:\n  ${[...changes.keys()].join('\n  ')}`);
  if (dryRun) return;
  for (const [path, content] of changes) await writeFile(join(ROOT, path), content);
  await run('./scripts/test');
  await run('./scripts/prove', 'package');
  await run('./scripts/pack');
  await run('./scripts/python-wheel');
  await run('git', 'commit', '--quiet', '--all', '--message', `Release ${next}`);
  await run('git', 'tag', `v${next}`);
  say(`
Version ${next} is made and tagged. To publish it:

  git push --follow-tags
  for archive in dist/*.tgz; do npm publish "$archive"; done
  python3 -m twine upload clients/python/dist/*.whl
  docker build -f infra/docker/Dockerfile -t slowwave:${next} . && docker push slowwave:${next}`);
}

function text(path: string): Promise<string> {
  return readFile(join(ROOT, path), 'utf8');
}

async function git(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: ROOT })).stdout.trim();
}

async function run(command: string, ...args: readonly string[]): Promise<void> {
  say(`── ${[command, ...args].join(' ')}`);
  const [code] = await once(spawn(command, args, { cwd: ROOT, stdio: 'inherit' }), 'close');
  if (code !== 0) {
    throw new ReleaseError(
      `${command} failed with ${code}: nothing is tagged. git checkout . takes the new version back.`,
    );
  }
}

/** mem0's command line, against MEM0_HOST, with a home folder of its own. */
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at, callsOf, env as inherited, soon } from './calls.mjs';

const folder = process.argv[2];
const manifest = await readFile(join(folder, 'node_modules/@mem0/cli/package.json'), 'utf8');
const { tries, print } = callsOf(JSON.parse(manifest).version);

const env = {
  ...inherited,
  HOME: folder,
  MEM0_BASE_URL: at.host,
  MEM0_API_KEY: at.apiKey,
  MEM0_TELEMETRY: 'false',
  CI: 'true',
};

/** What it prints; throws if it ends with another code than 0. */
async function mem0(...args) {
  const child = spawn(join(folder, 'node_modules/.bin/mem0'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      text += part;
    });
  }
  const code = await new Promise((done) => child.once('close', done));
  if (code !== 0) throw new Error(`exit code ${code}: ${text.replace(/\s+/g, ' ').trim()}`);
  return text;
}

const has = (word) => (text) => text.includes(word);
const user = ['-u', 'cli'];
const idIn = (text) => /mem_[a-z0-9]+/.exec(text ?? '')?.[0] ?? 'none';

await tries('status', () => mem0('status'));
await tries('add', () => mem0('add', 'I live in Oslo', ...user));
await soon(() => mem0('list', ...user, '-o', 'json').catch(() => ''), has('Oslo'));
const cat = await tries(
  'add --no-infer',
  () => mem0('add', 'Has a cat.', '--no-infer', ...user, '-o', 'json'),
  has('mem_'),
);
const id = idIn(cat);
await tries('add --metadata', () => mem0('add', 'Has a car.', '--no-infer', '-m', '{"a":1}', ...user));
await tries('add --agent-id --app-id --run-id', () =>
  mem0(
    'add',
    'Likes tea.',
    '--no-infer',
    ...user,
    '--agent-id',
    'cli-bot',
    '--app-id',
    'cli-app',
    '--run-id',
    'cli-run',
  ),
);
await tries('add --messages', () => mem0('add', '--messages', '[{"role":"user","content":"I ski"}]', ...user));
await tries('add --expires', () => mem0('add', 'I row', '--expires', '2030-01-31', ...user));
await tries('add --custom-instructions', () => mem0('add', 'I paint', '--custom-instructions', 'Hobbies.', ...user));
await tries('add --timestamp', () => mem0('add', 'I sing', '--timestamp', '1700000000', ...user));
await tries('add --immutable', () => mem0('add', 'I was born in May', '--immutable', ...user));
await tries('add --custom-categories', () => mem0('add', 'I jog', '--custom-categories', '[{"sport":"any"}]', ...user));
await tries('search', () => mem0('search', 'where?', ...user, '--threshold', '0'), has('Oslo'));
for (const options of [['--rerank'], ['--keyword'], ['--latest-only'], ['--fields', 'memory'], ['-k', '2']]) {
  await tries(`search ${options[0]}`, () => mem0('search', 'where?', ...user, ...options));
}
await tries(
  'search --filter',
  () =>
    mem0(
      'search',
      'what?',
      ...user,
      '--threshold',
      '0',
      '--filter',
      '{"AND":[{"user_id":"cli"},{"metadata":{"a":1}}]}',
      '-o',
      'json',
    ),
  has('car'),
);
for (const kind of ['agent', 'app', 'run']) {
  const named = [`--${kind}-id`, `cli-${kind === 'agent' ? 'bot' : kind}`];
  await tries(
    `search --${kind}-id`,
    () => mem0('search', 'what?', ...named, '--threshold', '0', '-o', 'json'),
    has('tea'),
  );
  await tries(`list --${kind}-id`, () => mem0('list', ...named, '-o', 'json'), has('tea'));
}
await tries('search --reference-date', () => mem0('search', 'where?', ...user, '--reference-date', '2026-01-01'));
await tries('list', () => mem0('list', ...user, '-o', 'json'), has('cat'));
await tries('list --page --page-size', () => mem0('list', ...user, '--page', '1', '--page-size', '2'));
await tries('list --after --before', () => mem0('list', ...user, '--after', '2024-01-01', '--before', '2100-01-01'));
await tries('list --category', () => mem0('list', ...user, '--category', 'none'));
await tries('get', () => mem0('get', id), has('Has a cat.'));
await tries('update', () => mem0('update', id, 'Has two cats.'));
await tries('update --metadata', () => mem0('update', id, '--metadata', '{"b":2}'));
await tries('update --expires', () => mem0('update', id, '--expires', '2030-01-31'));
await tries('event list', () => mem0('event', 'list'));
const events = await mem0('event', 'list', '-o', 'json').catch(() => '');
const event = /bat_[a-z0-9]+/.exec(events)?.[0] ?? 'none';
await tries('event status', () => mem0('event', 'status', event));
await writeFile(join(folder, 'import.json'), '[{"memory":"Knows Greek.","user_id":"cli"}]');
await tries('import', () => mem0('import', join(folder, 'import.json'), ...user));
for (const kind of ['users', 'agents', 'apps', 'runs'])
  await tries(`entity list ${kind}`, () => mem0('entity', 'list', kind), has('cli'));
await tries('delete --dry-run', () => mem0('delete', '--all', ...user, '--dry-run'));
await tries('delete', () => mem0('delete', id));
await tries('delete --all --run-id', () => mem0('delete', '--all', '--run-id', 'cli-run', '--force'));
await tries('delete --all', () => mem0('delete', '--all', ...user, '--force'));
await tries('entity delete', () => mem0('entity', 'delete', ...user, '--force'));
await tries('delete --entity --app-id', () => mem0('delete', '--entity', '--app-id', 'cli-app', '--force'));
await tries('delete --all --project', () => mem0('delete', '--all', '--project', '--force'));
await tries('config show', () => mem0('config', 'show'));
print();

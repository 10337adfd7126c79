import { access } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../apps/cli/src/commands/index.ts';
import { filesBelow, pathOf, textOf } from './files.ts';

const PACKAGES = [
  'packages/sdk',
  'packages/adk',
  'packages/ai-sdk',
  'packages/openai-agents',
  'packages/langgraph',
  'clients/python',
];
const FOLDERS = ['docs', 'infra/docker', 'infra/k8s', 'examples/chat-backend', ...PACKAGES];
const AT_ROOT = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];

test('every link of a page leads to a file, and to a heading there', async () => {
  const found = await Promise.all((await pages()).map(async (page) => linksOf(page, await textOf(page))));
  const broken = await Promise.all(found.flat().map(async (link) => ((await leads(link)) ? [] : [link])));
  expect(found.flat().length).toBeGreaterThan(100);
  expect(broken.flat()).toEqual([]);
});

test('docs/README.md names every page of docs', async () => {
  const named = linksOf('docs/README.md', await textOf('docs/README.md')).map(({ to }) => to);
  const there = (await pages()).filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md');
  expect(there.filter((page) => !named.includes(page))).toEqual([]);
});

test('every file and folder that a page names is there', async () => {
  const files = (await Promise.all(ROOMS.map(filesBelow))).flat().filter((path) => !path.includes('node_modules'));
  const all = [...files, ...AT_ROOT, 'vitest.config.ts'];
  const named = await Promise.all(
    (await pages()).map(async (page) => pathsIn(await textOf(page)).map((path) => ({ page, path }))),
  );
  const missing = named.flat().filter(({ path }) => !all.some((file) => isAt(file, path)));
  expect(named.flat().length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});

test.each([
  ['packages/engine/src/words.ts', 'packages/engine/src/words.ts', true],
  ['packages/engine/src/views/page.ts', 'engine/src/views', true],
  ['packages/engine/src/words.ts', 'words.ts', true],
  ['packages/engine/src/words.ts', 'engine/src/w*.ts', true],
  ['packages/engine/src/words.ts', 'engine/words.ts', false],
  ['packages/engine/src/words.ts', 'ords.ts', false],
])('%s is at %s: %s', (file, path, there) => {
  expect([isAt(file, path), pathsIn(`see \`${path}\``)]).toEqual([there, [path]]);
});

test('a path with choices names each of them', () => {
  expect(pathsIn('see `engine/src/{words,views}.ts`')).toEqual(['engine/src/words.ts', 'engine/src/views.ts']);
});

test('the decision on libraries names each one that is installed, and no other', async () => {
  const [, catalog = ''] = (await textOf('pnpm-workspace.yaml')).split('\ncatalog:');
  const installed = matches(catalog, /^ {2}"?([^":\s]+)"?: /gm).filter((name) => !name.startsWith('@types/'));
  const [table = ''] = (await textOf('docs/decisions/0007-libraries.md')).split('\n## ');
  const named = matches(table, /^\| ([@a-z].*?) \|/gm).flatMap((cell) => cell.split(', '));
  expect(named.filter((name) => name !== 'library').sort()).toEqual(installed.sort());
});

test('docs/cli.md has every command of the CLI, and no other', async () => {
  const commands = COMMANDS.map(({ name }) => name);
  const rows = matches(await textOf('docs/cli.md'), /^\| `([a-z][^`]*)` \|/gm);
  const named = rows.map((row) => row.replace(/ [<[-].*$/, ''));
  expect(named.sort()).toEqual(commands.sort());
});

/** Of the index in PostgreSQL. */
const SCHEMAS = ['slowwave_index', 'slowwave_index_2'];

test('every setting, metric and route that a page names exists', async () => {
  const settings = matches(await textOf('.env.example'), /^# ([A-Z][A-Z0-9_]+)=/gm);
  /** One, or what the names of some begin with: SLOWWAVE_EMBEDDING_… */
  const isSetting = (name: string): boolean =>
    name.endsWith('_') ? settings.some((one) => one.startsWith(name)) : settings.includes(name);
  const metrics = await textOf('docs/metrics.md');
  const routes = matches(await textOf('packages/sdk/src/api.ts'), /^ {2}'([A-Z]+ \/v1[^']*)': \{/gm).map(anyId);
  const unknown = (
    await Promise.all((await pages()).map(async (page) => ({ page, text: await textOf(page) })))
  ).flatMap(({ page, text }) => [
    ...matches(text, /\b(SLOWWAVE_[A-Z0-9_]+)\b/g).flatMap((name) => (isSetting(name) ? [] : [[page, name]])),
    ...matches(text, /\b(slowwave_[a-z0-9_]+)\b/g)
      .map((name) => name.replace(/_(?:count|sum|bucket)$/, ''))
      .flatMap((name) => (metrics.includes(name) || SCHEMAS.includes(name) ? [] : [[page, name]])),
    ...matches(page === OF_MEM0 ? '' : text, /\b((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[\w{}…/.-]+)/g)
      .map((route) => anyId(route.replace(/\.$/, '')))
      .flatMap((route) => (routes.includes(route) || route.endsWith('/…') ? [] : [[page, route]])),
  ]);
  expect([settings.length, routes.length].map((count) => count > 50)).toEqual([true, true]);
  expect(unknown).toEqual([]);
});

test('the pages of docs quote log lines as they are', async () => {
  const docs = (await pages()).filter((page) => page.startsWith('docs/'));
  const text = (await Promise.all(docs.map(textOf))).join('\n');
  const [, table = ''] = /## Every fault at a glance\n([^#]*)/.exec(await textOf('docs/operations.md')) ?? [];
  const cells = table.split('\n').map((line) => (line.startsWith('| ') ? (line.split(' | ')[1] ?? '') : ''));
  const ofTable = cells.flatMap((cell) => matches(cell, /`([^`]* [^`]*)`/g));
  const said = [...matches(text, /"msg":"([^"]+)"/g), ...ofTable];
  const files = [...(await filesBelow('packages')), ...(await filesBelow('apps'))].filter((path) =>
    IS_SOURCE.test(path),
  );
  const source = (await Promise.all(files.map(textOf))).join('\n').replaceAll(/['`] \+\s+['`]/g, '');
  const parts = said.flatMap((line) => line.split(/…|\d+|con_/)).map((part) => part.trim().replace(/,$/, ''));
  const missing = parts.filter((part) => part.length > FEW && !source.includes(part) && !source.includes(endOf(part)));
  expect(said.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

const IS_SOURCE = /^(?:apps|packages)\/[^/]+\/src\/.*(?<!\.test)\.ts$/;

/** Letters that say too little to be looked for. */
const FEW = 8;

/** Without its first words, which may be filled in. */
const endOf = (text: string): string => text.split(' ').slice(2).join(' ');

/** It also names routes of mem0's own. */
const OF_MEM0 = 'docs/from-mem0.md';

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, one = '']) => one);

const anyId = (route: string): string => route.replaceAll(/\{[^}]*\}|\b[a-z]{3}_…/g, '{id}');

async function pages(): Promise<string[]> {
  const below = await Promise.all(FOLDERS.map(filesBelow));
  const isPage = (path: string): boolean => path.endsWith('.md') && !path.includes('node_modules');
  return [...AT_ROOT, ...below.flat().filter(isPage)];
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly heading: string;
}

/** Links inside the repository. */
const linksOf = (from: string, text: string): Link[] =>
  [...text.matchAll(/\]\((?!https?:)(?<path>[^)#\s]*)(?:#(?<heading>[^)\s]+))?\)/g)].map(({ groups }) => {
    const { path = '', heading = '' } = groups ?? {};
    return { from, to: path === '' ? from : join(dirname(from), path), heading };
  });

async function leads({ to, heading }: Link): Promise<boolean> {
  if (heading !== '') return headingsOf(await textOf(to)).includes(heading);
  return access(pathOf(to)).then(
    () => true,
    () => false,
  );
}

/** As GitHub names them: lower case, letters, digits, - and _, with - for each space. */
const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (?<title>.+)$/gm)].map(({ groups }) =>
    (groups?.title ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const ROOMS = ['apps', 'packages', 'clients', 'infra', 'docs', 'scripts', 'examples'];

/** Names of files, and paths that begin in a room or lead into a package; in code alone, as prose has slashes too. */
const PATH =
  /^(?:[\w./{},*-]+\.(?:ts|mjs|md)|(?:apps|packages|clients|infra|docs|scripts|examples)\/[\w./{},*-]+|[a-z-]+\/(?:src|test)\/[\w./{},*-]+)$/;

const pathsIn = (text: string): string[] =>
  [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)]
    .flatMap(([code]) => code.replaceAll('`', ' ').split(/[\s()'":;]+/))
    .map((word) => word.replace(/^\.\//, '').replace(/[,./]+$/, ''))
    .filter((word) => PATH.test(word))
    .flatMap(choicesOf);

/** "a/{b,c}.ts" is a/b.ts and a/c.ts. */
function choicesOf(path: string): string[] {
  const [found, choices = ''] = /\{([^}]*)\}/.exec(path) ?? [];
  return found === undefined ? [path] : choices.split(',').flatMap((one) => choicesOf(path.replace(found, one)));
}

/** A path may leave out how it begins, and what is below a folder. */
const isAt = (file: string, path: string): boolean =>
  path.includes('*')
    ? [`**/${path}`, `**/${path}/**`].some((glob) => matchesGlob(file, glob))
    : `/${file}/`.includes(`/${path}/`);

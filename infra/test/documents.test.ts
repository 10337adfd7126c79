import { access } from 'node:fs/promises';
import { dirname, join, matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, pathOf, textOf } from './files.ts';

const FOLDERS = ['docs', 'infra/docker', 'infra/k8s', 'examples/chat-backend', 'packages/sdk'];
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
  const all = [...files, ...AT_ROOT];
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
  ['packages/engine/src/words.ts', 'engine/src/{words,views}.ts', true],
  ['packages/engine/src/words.ts', 'engine/src/w*.ts', true],
  ['packages/engine/src/words.ts', 'engine/words.ts', false],
  ['packages/engine/src/words.ts', 'ords.ts', false],
])('%s is at %s: %s', (file, path, there) => {
  expect([isAt(file, path), pathsIn(`see \`${path}\``)]).toEqual([there, [path]]);
});

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

const ROOMS = ['apps', 'packages', 'infra', 'docs', 'scripts', 'examples'];

/** Names of files, and paths that begin in a room or lead into a package; in code alone, as prose has slashes too. */
const PATH =
  /^(?:[\w./{},*-]+\.(?:ts|mjs|md)|(?:apps|packages|infra|docs|scripts|examples)\/[\w./{},*-]+|[a-z-]+\/(?:src|test)\/[\w./{},*-]+)$/;

const pathsIn = (text: string): string[] =>
  [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)]
    .flatMap(([code]) => code.replaceAll('`', ' ').split(/[\s()'":;]+/))
    .map((word) => word.replace(/^\.\//, '').replace(/[,./]+$/, ''))
    .filter((word) => PATH.test(word));

/** A path may leave out how it begins, and what is below a folder. */
const isAt = (file: string, path: string): boolean =>
  /[*{]/.test(path)
    ? [`**/${path}`, `**/${path}/**`].some((glob) => matchesGlob(file, glob))
    : `/${file}/`.includes(`/${path}/`);

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { compile } from './compile.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAMS = ['cli', 'standalone', 'ingest', 'worker', 'search', 'console'];
/** What runs a local embedding model is as large as all the rest, and installed by who wants it. */
const OPTIONAL = ['onnxruntime-node', '@huggingface/tokenizers'];

/** Writes the package that `npx slowwave` runs into a folder, which is emptied first. Needs the console to be built. */
export async function writePackage(folder: string): Promise<void> {
  const { files, dependencies } = await compile(
    ROOT,
    PROGRAMS.map((name) => `apps/${name}/src/main.ts`),
  );
  await rm(folder, { recursive: true, force: true });
  for (const { path, text } of files) {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await cp(join(ROOT, 'apps/web/dist'), join(folder, 'apps/web/dist'), { recursive: true });
  await mkdir(join(folder, 'bin'));
  await cp(join(import.meta.dirname, 'slowwave.cjs'), join(folder, 'bin/slowwave.cjs'));
  await cp(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  for (const name of ['LICENSE', 'CHANGELOG.md', '.env.example']) await cp(join(ROOT, name), join(folder, name));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(dependencies), null, 2)}\n`);
}

async function manifest(dependencies: readonly string[]): Promise<object> {
  const { version, license } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as Record<string, string>;
  const versions = await versionsOf();
  const pinned = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, versions[name]]));
  return {
    name: 'slowwave',
    version,
    description: 'Long-term memory for agents, self-hosted: post conversations, search memories.',
    keywords: ['memory', 'agents', 'llm', 'mem0', 'mcp', 'bullmq', 'qdrant', 'self-hosted'],
    license,
    author: 'The Slowwave maintainers',
    type: 'module',
    bin: { slowwave: 'bin/slowwave.cjs' },
    engines: { node: '>=22.18' },
    dependencies: pinned(dependencies),
    peerDependencies: pinned(OPTIONAL),
    peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
  };
}

/** The versions that are tested. */
async function versionsOf(): Promise<Readonly<Record<string, string>>> {
  const { catalog } = parse(await readFile(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')) as {
    catalog: Record<string, string>;
  };
  return catalog;
}

import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join, posix } from 'node:path';

/** A file of the compiled product: where it stands, from the root on, and what is in it. */
interface Compiled {
  readonly path: string;
  readonly text: string;
}

interface Compilation {
  readonly files: readonly Compiled[];
  /** Names of what has to be installed besides. */
  readonly dependencies: readonly string[];
}

/** A package of the workspace. */
interface Part {
  /** From the root on, e.g. packages/engine. */
  readonly folder: string;
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * The modules and all they import of the workspace, as JavaScript in the folders their sources have. Types are only stripped, by
 * Node.js itself: what is installed is, line by line, what was tested. Packages of the workspace are named by relative paths.
 */
export async function compile(root: string, entries: readonly string[]): Promise<Compilation> {
  const parts = await workspace(root);
  const files = new Map<string, Compiled>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    const { text, imported } = withPaths(stripTypeScriptTypes(await readFile(join(root, path), 'utf8')), path, parts);
    files.set(path, { path: asJavaScript(path), text });
    waiting.push(...imported);
  }
  return { files: [...files.values()], dependencies: dependenciesOf(entries, parts) };
}

async function workspace(root: string): Promise<Part[]> {
  const rooms = ['apps', 'packages'].map(async (room) =>
    (await readdir(join(root, room))).map((name) => `${room}/${name}`),
  );
  const folders = (await Promise.all(rooms)).flat();
  return Promise.all(
    folders.map(async (folder) => ({
      ...(JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Omit<Part, 'folder'>),
      folder,
    })),
  );
}

/** What a module names: after from, import or import(, or as the URL of a thread's script. */
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)'((?:\.\.?\/[^']+\.ts|@slowwave\/[^']+))'/g;

function withPaths(text: string, path: string, parts: readonly Part[]): { text: string; imported: string[] } {
  const imported: string[] = [];
  const from = posix.dirname(path);
  const rewritten = text.replace(SPECIFIER, (_all, before: string, specifier: string) => {
    const target = specifier.startsWith('.') ? posix.join(from, specifier) : entryOf(specifier, parts);
    if (target === null) throw new Error(`${path} imports ${specifier}, which no package of the workspace exports`);
    imported.push(target);
    const relative = posix.relative(from, asJavaScript(target));
    return `${before}'${relative.startsWith('.') ? relative : `./${relative}`}'`;
  });
  return { text: rewritten, imported };
}

const asJavaScript = (path: string): string => path.replace(/\.ts$/, '.js');

function entryOf(specifier: string, parts: readonly Part[]): string | null {
  const part = parts.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  const entry = part?.exports?.[`.${specifier.slice(part.name.length)}`];
  return part === undefined || entry === undefined ? null : posix.join(part.folder, entry);
}

/** What the packages of the entries need, and those they depend on, over and over. */
function dependenciesOf(entries: readonly string[], parts: readonly Part[]): string[] {
  const ours = new Set(parts.filter(({ folder }) => entries.some((path) => path.startsWith(`${folder}/`))));
  const others = new Set<string>();
  for (const { dependencies = {} } of ours) {
    for (const name of Object.keys(dependencies)) {
      const part = parts.find((one) => one.name === name);
      if (part === undefined) others.add(name);
      else ours.add(part); // and so it is visited
    }
  }
  return [...others].sort();
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

/** The name of an image with a version of its own: not latest, and not a whole line of versions. */
export const PINNED = /^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?$/;

/** Where something of the repository is. */
export const pathOf = (path: string): string => join(ROOT, path);

/** A file of the repository. */
export const textOf = (path: string): Promise<string> => readFile(pathOf(path), 'utf8');

/** The files below a folder of the repository, by their paths from its root. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}

/** The documents of a YAML file. A mistake in it is an error that names the place. */
export async function yamlOf(path: string): Promise<unknown[]> {
  const documents = parseAllDocuments(await textOf(path), { merge: true });
  return documents.map((document) => {
    const [mistake] = document.errors;
    if (mistake !== undefined) throw new Error(`${path}: ${mistake.message}`);
    return document.toJS();
  });
}

const PROGRAMS = ['ingest', 'worker', 'search', 'console'] as const;
type ProgramName = (typeof PROGRAMS)[number];

export interface Program {
  readonly name: ProgramName;
  readonly port: number;
}

/** The programs there are, with the port each listens on unless told otherwise. */
export const programs = (): Promise<readonly Program[]> =>
  Promise.all(
    PROGRAMS.map(async (name) => ({
      name,
      port: numberIn(await textOf(`apps/${name}/src/main.ts`), /const PORT = ([\d_]+);/),
    })),
  );

/** After how many seconds a program that is told to stop is gone, whatever it was doing. */
export const stopSeconds = async (): Promise<number> =>
  numberIn(await textOf('packages/http/src/serve.ts'), /const STOP_LIMIT_MS = ([\d_]+);/) / 1_000;

function numberIn(text: string, pattern: RegExp): number {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`expected a number at ${pattern}, found none; it was moved or renamed`);
  return Number(found.replaceAll('_', ''));
}

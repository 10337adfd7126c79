import { join, resolve } from 'node:path';

export type Program = 'cli' | 'console' | 'ingest' | 'search' | 'standalone' | 'worker';

// biome-ignore lint/style/noProcessEnv: whoever starts the tests says what they test
const INSTALLED = process.env.TESTED_PACKAGE;

/**
 * The script of a program: of the repository or, with TESTED_PACKAGE, of the package that npm installed in this folder,
 * which has the same scripts as JavaScript.
 */
export const programFile = (program: Program): string =>
  INSTALLED === undefined
    ? resolve(import.meta.dirname, '../../../apps', program, 'src/main.ts')
    : join(INSTALLED, 'apps', program, 'src/main.js');

import { join, resolve } from 'node:path';

export type Program = 'cli' | 'console' | 'ingest' | 'router' | 'search' | 'standalone' | 'worker';

// biome-ignore lint/style/noProcessEnv: whoever starts the tests says what they test
const COMPILED = process.env.TESTED_PROGRAMS;

/**
 * The script of a program: its source or, with TESTED_PROGRAMS, the same as JavaScript in this folder, as ./scripts/test
 * bundles it and as npm installs it.
 */
export const programFile = (program: Program): string =>
  COMPILED === undefined
    ? resolve(import.meta.dirname, '../../../apps', program, 'src/main.ts')
    : join(COMPILED, 'apps', program, 'src/main.js');

import { resolve } from 'node:path';

/** Whether this is the package as npm installs it, where all sources are JavaScript, and not the repository. */
export const INSTALLED = import.meta.filename.endsWith('.js');

/** Where relative paths begin: at the root of the repository, or where an installed program was started. */
export const ROOT = INSTALLED ? process.cwd() : resolve(import.meta.dirname, '../../../..');

/** Folder of the ledger and the index. An installed program finds it from wherever it is started. */
export const USUAL_FOLDER = INSTALLED ? '~/.slowwave' : '.slowwave';

/** What people type to start a server and to use the command line. */
export const STARTED_BY = INSTALLED ? 'slowwave start' : './scripts/start';
export const CALLED_BY = INSTALLED ? 'slowwave' : './scripts/slowwave';

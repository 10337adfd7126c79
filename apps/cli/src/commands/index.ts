import type { Command } from '../command.ts';
import { rebuildIndexCommand } from './rebuild-index.ts';

/** Everything the program can do, in the order of its help. */
export const COMMANDS: readonly Command[] = [rebuildIndexCommand];

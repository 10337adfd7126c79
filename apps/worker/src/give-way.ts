import { constants, setPriority } from 'node:os';

/**
 * Where processes share a machine that is full, those that somebody waits for go first: consolidating may take longer,
 * searching and posting may not. Threads that are started later do the same.
 */
export const giveWay = (): void => setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

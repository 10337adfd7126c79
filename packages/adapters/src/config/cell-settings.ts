import { z } from 'zod';
import { Count } from './kinds.ts';

/** Settings of cells; without them one installation serves everybody. */
export const CELL_SETTINGS = {
  SLOWWAVE_DIRECTORY: z
    .string()
    .optional()
    .describe(
      'Directory of cells, for the router and slowwave cells: a SQLite file, or a postgres:// URL if there are routers on several machines.',
    ),
  SLOWWAVE_MOVES: Count(0, 64)
    .default(4)
    .describe('Owners that each router moves between cells at a time. 0: it moves nobody.'),
};

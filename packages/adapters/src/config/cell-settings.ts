import { z } from 'zod';
import { Count } from './kinds.ts';

/** Settings of cells; without them one installation serves everybody. */
export const CELL_SETTINGS = {
  SLOWWAVE_CELL: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be 1 to 32 of a-z, 0-9, "-"')
    .optional()
    .describe(
      'Name of this installation as a cell, if users are split over several installations; see docs/cells.md. All processes of a cell need the same name. Default: this is the only installation.',
    ),
  SLOWWAVE_DIRECTORY: z
    .string()
    .optional()
    .describe(
      'Directory of cells, for the router and slowwave cells: a SQLite file, or a postgres:// URL for routers on several machines.',
    ),
  SLOWWAVE_MOVES: Count(0, 64)
    .default(4)
    .describe('Number of owners that each router moves between cells at a time. 0: none.'),
};

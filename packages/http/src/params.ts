import { z } from 'zod';

/** The id in a path, as this service gave it out. */
export const IdParams = z.strictObject({ id: z.string().min(1) });

import { z } from 'zod';

/** Longest part of a path, in characters; ids are shorter. */
export const PARAM_MAX = 300;

/** The id in a path, as this service gave it out. */
export const IdParams = z.strictObject({ id: z.string().min(1) });

import { z } from 'zod';
import { listOf, PageQuery } from './common.ts';

export const HoldView = z
  .object({
    id: z.string(),
    state: z.enum(['held', 'released', 'over']).describe('over: the hold ended with its day (UTC).'),
    kind: z.enum(['user', 'agent', 'run', 'app', 'key']),
    of: z.string().describe('The id of the user, agent, run, app or key.'),
    measure: z.enum(['calls', 'tokens']).describe('The quantity that was too high.'),
    used: z.number().int().describe('The value of the day until then.'),
    limit: z.number().int().describe('The limit: hold_at times the usual value per day.'),
    held_at: z.string(),
    released_at: z.string().nullable(),
    ends_at: z.string().describe('When the hold ends automatically.'),
  })
  .meta({ id: 'Hold' });
export type HoldView = z.infer<typeof HoldView>;

export const HoldList = listOf(HoldView).meta({ id: 'HoldList' });
export const ListHoldsQuery = z.strictObject(PageQuery);

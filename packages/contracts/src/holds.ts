import { z } from 'zod';
import { listOf, PageQuery } from './common.ts';

export const HoldView = z
  .object({
    id: z.string(),
    state: z.enum(['held', 'released', 'over']).describe('over: its day (UTC) has ended, and with it the hold.'),
    kind: z.enum(['user', 'agent', 'run', 'app', 'key']),
    of: z.string().describe('The id of the user, agent, run, app or key.'),
    measure: z.enum(['calls', 'tokens']).describe('What there was too much of.'),
    used: z.number().int().describe('In the day until then.'),
    limit: z.number().int().describe('hold_at times what is usual in a day.'),
    held_at: z.string(),
    released_at: z.string().nullable(),
    ends_at: z.string().describe('When it ends by itself.'),
  })
  .meta({ id: 'Hold' });
export type HoldView = z.infer<typeof HoldView>;

export const HoldList = listOf(HoldView).meta({ id: 'HoldList' });
export const ListHoldsQuery = z.strictObject(PageQuery);

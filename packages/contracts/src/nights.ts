import { z } from 'zod';
import { ExternalId, listOf, PageQuery, ScopeView } from './common.ts';

const NightState = z.enum(['thinking', 'waiting', 'applied', 'undone', 'discarded', 'stale', 'failed']);

/** A memory that an act rests on. */
const EvidenceView = z.object({ memory_id: z.string(), memory: z.string() }).meta({ id: 'Evidence' });

const ActView = z
  .object({
    act: z.enum(['age', 'merge', 'contradictions', 'fade', 'patterns', 'skills', 'runs', 'profile']),
    memory_id: z.string(),
    before: z.string().nullable().describe('null: the memory is new; for skills: it replaces no other skill.'),
    after: z.string().nullable().describe('null: the memory ends; for skills: it is no longer a skill.'),
    slot: z.string().optional().describe('Only for profile: the slot the memory is put in.'),
    certainty: z.enum(['low', 'medium', 'high']).optional().describe('Only for patterns.'),
    evidence: z.array(EvidenceView),
    reason: z.string(),
    decided_by: z.enum(['model', 'rule']),
    asks: z.boolean().describe('true: a review is opened instead of a change.'),
  })
  .meta({ id: 'Act' });
export type ActView = z.infer<typeof ActView>;

const NightSummary = ScopeView.pick({ user_id: true, agent_id: true, run_id: true }).extend({
  id: z.string().describe('Also the id of its consolidation, which can be undone and redone.'),
  state: NightState,
  why: z
    .enum(['preview', 'share'])
    .nullable()
    .describe(
      'Why it waits or waited. preview: the settings require approval. share: it would change too many memories.',
    ),
  acts: z.number().int(),
  memories: z.number().int().describe('How many memories it changes.'),
  failure: z.object({ code: z.string(), message: z.string(), at: z.string() }).nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});

export const NightList = listOf(NightSummary.meta({ id: 'NightSummary' })).meta({ id: 'NightList' });

export const NightView = NightSummary.extend({
  plan: z
    .object({
      acts: z.array(ActView),
      refused: z
        .array(z.object({ asked: z.string(), why: z.string() }))
        .describe('Proposals of the model that were refused, and why.'),
      calls: z.number().int(),
      tokens: z.number().int(),
    })
    .nullable()
    .describe('null: not created yet, or removed by retention.'),
}).meta({ id: 'Night' });
export type NightView = z.infer<typeof NightView>;
export type NightSummary = z.infer<typeof NightSummary>;

export const ListNightsQuery = z.strictObject({
  state: z.enum(['thinking', 'waiting', 'applied', 'discarded', 'stale', 'failed']).optional(),
  user_id: ExternalId.optional(),
  ...PageQuery,
});

export const PostNight = z
  .strictObject({ decision: z.enum(['apply', 'discard']) })
  .meta({ id: 'PostNight', examples: [{ decision: 'apply' }, { decision: 'discard' }] });

import { z } from 'zod';

/** The steps that may have a chat model of their own. */
const CHAT_STEPS = ['extract', 'decide', 'graph', 'summary', 'recall'] as const;

const ModelName = z.string().trim().min(1).max(256);

/** Chat models by step. */
export const StepModels = z.strictObject({
  extract: ModelName.optional(),
  decide: ModelName.optional(),
  graph: ModelName.optional(),
  summary: ModelName.optional(),
  recall: ModelName.optional(),
});

/** What can be found out about a model: the first eight of a chat model, the others of an embedding model. */
const PROPERTIES = [
  'answer_form',
  'temperature',
  'system_role',
  'output_limit',
  'streaming',
  'thoughts',
  'window',
  'examples',
  'dimensions',
  'base64',
  'texts_at_once',
  'text_length',
] as const;

const ModelView = z.object({
  use: z.enum(['chat', 'images', 'embeddings']),
  model: z.string(),
  findings: z
    .array(
      z.object({
        property: z
          .enum(PROPERTIES)
          .describe('What it is about. thoughts: the model reasons before it answers; `what` names the field.'),
        at: z.string().describe('When it was detected.'),
        what: z.string(),
        remedy: z.string().nullable().describe('null: Slowwave adapts to it; nothing to do.'),
      }),
    )
    .describe('Parameters its server does not accept, and other detected properties.'),
  last_call: z
    .object({
      at: z.string(),
      problem: z
        .object({ code: z.string(), message: z.string().describe('What was received and what to do.') })
        .nullable()
        .describe('null: it answered.'),
    })
    .nullable()
    .describe('The health of the model; null: it has not been called yet. Refused inputs do not count.'),
  paused_until: z
    .string()
    .nullable()
    .describe('For chat models: calls wait until then after repeated failures. null: calls do not wait.'),
  steps: z
    .array(
      z.object({
        step: z.enum([...CHAT_STEPS, 'images']),
        place: z.int().describe('1: the model of the step. From 2 on: its fallbacks, in order.'),
        asked: z
          .boolean()
          .describe('true: it is used now. A fallback is used while the models before it are unavailable.'),
      }),
    )
    .describe('The steps a chat or image model is used for. Empty: only for tenants that choose it.'),
});
export type ModelView = z.infer<typeof ModelView>;

export const ModelList = z.object({ results: z.array(ModelView) }).meta({ id: 'ModelList' });

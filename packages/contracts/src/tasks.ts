import { z } from 'zod';
import { ExternalId, listOf, Metadata, PageQuery, whole } from './common.ts';
import { TASK_PATCHES, TASK_STATES } from './examples.ts';

const GOAL_MAX = 2_000;
const STEPS_MAX = 100;
const STEP_ID_MAX = 64;
const TITLE_MAX = 300;
const RESULT_MAX = 2_000;
/** In characters of JSON: it is stored with every version. */
const DOCUMENT_MAX = 64_000;

const StepId = z
  .string()
  .max(STEP_ID_MAX)
  .regex(/^[\w.:-]+$/, 'expected letters, digits and _ . : - only');

const StepState = z
  .enum(['pending', 'running', 'waiting_for_approval', 'done', 'failed', 'skipped'])
  .describe('waiting_for_approval: it continues once a person has approved it.');

const text = (most: number) => z.string().max(most).regex(/\S/u, 'expected text, got none');

const stepFields = {
  title: text(TITLE_MAX),
  state: StepState,
  result: text(RESULT_MAX).describe('The result of the step.'),
  needs_approval: z.boolean().describe('true: a person has to approve the step before it is done.'),
};

const TaskStep = z
  .strictObject({
    id: StepId,
    title: stepFields.title,
    state: stepFields.state.default('pending'),
    result: stepFields.result.optional(),
    needs_approval: stepFields.needs_approval.optional(),
  })
  .meta({ id: 'TaskStep' });

const areDifferent = (steps: readonly { readonly id: string }[]): boolean =>
  new Set(steps.map(({ id }) => id)).size === steps.length;
const SAME_STEP = 'two steps have the same id; give each step a unique id';

/** Checked once more after a change, as a whole. */
export const TaskDocument = z
  .strictObject({
    goal: text(GOAL_MAX).optional().describe('The goal of the run.'),
    steps: z.array(TaskStep).max(STEPS_MAX).refine(areDifferent, SAME_STEP).optional(),
    data: Metadata.optional().describe('Other data your program needs to continue. It is not shown in prompts.'),
  })
  .superRefine((document, context) => {
    const { length } = JSON.stringify(document);
    if (length <= DOCUMENT_MAX) return;
    const message = `expected a document of at most ${DOCUMENT_MAX} characters of JSON, got ${length}; shorten results, or remove steps`;
    context.addIssue({ code: 'custom', message });
  });

const Version = whole(0, Number.MAX_SAFE_INTEGER)
  .optional()
  .describe(
    'The version you have read, like the header if-match; 0: none yet. If the run has another version, nothing is changed ' +
      'and the answer is 409.',
  );

const { goal, steps, data } = TaskDocument.shape;

export const PutTaskState = z
  .strictObject({ version: Version, goal, steps, data })
  .meta({ id: 'PutTaskState', examples: TASK_STATES });

export const PatchTaskState = z
  .strictObject({
    version: Version,
    goal: text(GOAL_MAX).nullable().optional().describe('null removes it.'),
    steps: z
      .array(
        z.strictObject({
          id: StepId,
          title: stepFields.title.optional(),
          state: stepFields.state.optional(),
          result: stepFields.result.nullable().optional(),
          needs_approval: stepFields.needs_approval.optional(),
        }),
      )
      .max(STEPS_MAX)
      .refine(areDifferent, SAME_STEP)
      .optional()
      .describe('Changes steps by id. A new step needs a title and is appended.'),
    remove_steps: z.array(StepId).max(STEPS_MAX).optional(),
    data: Metadata.optional().describe('Replaces top-level fields; null removes a field.'),
  })
  .meta({ id: 'PatchTaskState', examples: TASK_PATCHES });

export const EndTask = z.strictObject({ version: Version }).meta({ id: 'EndTask', examples: [{ version: 2 }] });

/** Who the run belongs to: as in batches, the first of user, agent and run that is given. */
const OwnerFields = {
  user_id: ExternalId.optional(),
  agent_id: ExternalId.optional(),
  app_id: ExternalId.optional().describe(
    'A run belongs to the app it was started under. Required with a key for one app.',
  ),
};
export const TaskQuery = z.strictObject(OwnerFields);
export const TaskHistoryQuery = z.strictObject({ ...OwnerFields, ...PageQuery });
export const TaskListQuery = z
  .strictObject({
    ...OwnerFields,
    ended: z.stringbool().optional().describe('true: only ended runs; false: only active runs.'),
    ...PageQuery,
  })
  .refine(({ user_id, agent_id }) => (user_id ?? agent_id) !== undefined, {
    message: 'expected a user_id or an agent_id',
    path: ['user_id'],
  });

/** Answers have what was stored, under whatever limits were valid then. */
export const TaskStateView = z
  .object({
    run_id: z.string(),
    user_id: z.string().nullable(),
    agent_id: z.string().nullable().describe('Only for a run that belongs to an agent.'),
    app_id: z.string().nullable(),
    version: z.int(),
    goal: z.string().nullable(),
    steps: z.array(
      z
        .object({
          id: z.string(),
          title: z.string(),
          state: StepState,
          result: z.string().nullable(),
          needs_approval: z.boolean(),
        })
        .meta({ id: 'TaskStepView' }),
    ),
    waiting_for_approval: z.array(z.string()).describe('The ids of steps that wait for approval.'),
    data: z.record(z.string(), z.json()),
    created_at: z.string(),
    updated_at: z.string().describe('When this version was written.'),
    ended_at: z.string().nullable().describe('null: the run has not ended.'),
  })
  .meta({ id: 'TaskState' });
export type TaskStateView = z.infer<typeof TaskStateView>;
export const TaskStateList = listOf(TaskStateView).meta({ id: 'TaskStateList' });

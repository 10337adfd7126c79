import { z } from 'zod';
import { DependentView } from './consolidations.ts';
import { PROBLEMS } from './examples.ts';

/** Every error code of the API and its HTTP status. Codes are stable; texts may change. */
export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  unauthorized: 401,
  link_opened: 401,
  budget_exhausted: 402,
  forbidden: 403,
  scope_missing: 403,
  key_bound: 403,
  sign_in_again: 403,
  not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  idempotency_conflict: 409,
  version_conflict: 409,
  conflict: 409,
  has_dependents: 409,
  removed_by_retention: 409,
  paused: 409,
  gate_not_passed: 409,
  owner_exists: 409,
  owner_erased: 409,
  owner_busy: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  cell_lost: 410,
  moved: 421,
  immutable_memory: 422,
  unsupported_content: 422,
  not_configured: 422,
  too_many_requests: 429,
  internal: 500,
  model_unavailable: 502,
  unavailable: 503,
  cell_unavailable: 503,
  timed_out: 504,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** RFC 9457 problem details, plus a stable code and, for bad input, where the mistakes are. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    instance: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    dependents: z
      .array(DependentView)
      .optional()
      .describe('Only with has_dependents: the changes that would have to be undone as well.'),
    current_version: z
      .int()
      .optional()
      .describe('Only with version_conflict of a run: the current version of its state; 0: it has none.'),
    cell: z
      .string()
      .nullable()
      .optional()
      .describe(
        'With moved: the cell the owner moved to; null: only the directory knows it. With cell_unavailable and cell_lost: the cell.',
      ),
    epoch: z
      .int()
      .optional()
      .describe('Only with moved: the directory epoch from which the directory knows the new cell.'),
  })
  .meta({ id: 'Problem', examples: PROBLEMS });
export type Problem = z.infer<typeof Problem>;

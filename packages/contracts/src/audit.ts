import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery } from './common.ts';
import { OfTenant } from './keys.ts';

/** Longest name of a route with its method, with room. */
const ACTION_MAX = 200;

export const AuditOutcome = z.enum(['done', 'refused', 'failed']);

export const ListAuditQuery = z.strictObject({
  ...OfTenant,
  by: z.string().min(1).max(ACTION_MAX).optional().describe('A key id, or one of operator, loopback, offline, nobody.'),
  subject: ExternalId.optional().describe('The id of the affected user, agent, memory, key or other object.'),
  action: z.string().min(1).max(ACTION_MAX).optional().describe('Method and route, e.g. DELETE /v1/memories/{id}.'),
  outcome: AuditOutcome.optional(),
  since: Moment.optional(),
  until: Moment.optional().describe('Not included.'),
  ...PageQuery,
});

export const AuditEntryView = z
  .object({
    id: z.string(),
    at: z.string().describe('When the request was received.'),
    tenant: z.string(),
    by: z
      .string()
      .describe(
        'A key id. operator: the static API key. loopback: a local request that needed no key. offline: the command ' +
          'line, working directly on the ledger. nobody: no key, or an unknown one.',
      ),
    session: z.boolean().describe('true: sent from a browser session after signing in.'),
    action: z
      .string()
      .describe(
        'Method and route, e.g. DELETE /v1/memories/{id}; followed by ?dry_run=true if the request only asked what it would do.',
      ),
    subject: z
      .object({ kind: z.string(), id: z.string() })
      .nullable()
      .describe(
        'What was affected: a user, agent, run, memory, batch, key, …. If the owner has been erased, this is the ' +
          'erasure. null: the whole tenant, or something that does not exist.',
      ),
    outcome: AuditOutcome.describe('done: a status below 400; refused: 401, 403 or 429; failed: any other.'),
    status: z.number().int(),
    code: z.string().nullable().describe('The code of the problem that was returned.'),
    request_id: z
      .string()
      .nullable()
      .describe('The value of the x-request-id header. null: removed when the owner was erased.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryView = z.infer<typeof AuditEntryView>;

export const AuditList = listOf(AuditEntryView).meta({ id: 'AuditList' });

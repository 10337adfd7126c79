import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery } from './common.ts';
import { OfTenant } from './keys.ts';

/** Longest name of a route with its method, with room. */
const ACTION_MAX = 200;

export const AuditOutcome = z.enum(['done', 'refused', 'failed']);

export const ListAuditQuery = z.strictObject({
  ...OfTenant,
  by: z.string().min(1).max(ACTION_MAX).optional().describe('The id of a key, or operator, loopback, offline, nobody.'),
  subject: ExternalId.optional().describe('The id of whom or what it was about.'),
  action: z.string().min(1).max(ACTION_MAX).optional().describe('Method and route, e.g. DELETE /v1/memories/{id}.'),
  outcome: AuditOutcome.optional(),
  since: Moment.optional(),
  until: Moment.optional().describe('Not included.'),
  ...PageQuery,
});

export const AuditEntryView = z
  .object({
    id: z.string(),
    at: z.string().describe('When the request came.'),
    tenant: z.string(),
    by: z
      .string()
      .describe(
        'The id of a key; operator: the static key; loopback: none was needed; offline: the command line, on the ledger ' +
          'itself; nobody: no key, or none that is known.',
      ),
    session: z.boolean().describe('From a page that somebody had signed in to.'),
    action: z.string().describe('Method and route, e.g. DELETE /v1/memories/{id}.'),
    subject: z
      .object({ kind: z.string(), id: z.string() })
      .nullable()
      .describe(
        'Whom or what it was about: user, agent, run, memory, batch, key, …. Where the owner was erased: the erasure. null: ' +
          'the tenant as a whole, or nothing there is.',
      ),
    outcome: AuditOutcome.describe('done: a status below 400; refused: 401, 403 or 429; failed: any other.'),
    status: z.number().int(),
    code: z.string().nullable().describe('Of the problem that was answered.'),
    request_id: z.string().nullable().describe('As in the header x-request-id. null: forgotten with an erased owner.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryView = z.infer<typeof AuditEntryView>;

export const AuditList = listOf(AuditEntryView).meta({ id: 'AuditList' });

import { type AuditEntryView, AuditList, ListAuditQuery } from '@slowwave/contracts';
import { isoOf, outcomeOf, type TrailEntry, type TrailFilter } from '@slowwave/engine';
import { type App, listed, pageOf } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { tenantNamed } from './keys.ts';

const schema = {
  operationId: 'listAudit',
  tags: ['audit'],
  summary: 'List the audit log, newest first',
  description:
    'Lists every request that changes something, reads by admins, sign-ins and refused requests, each within a ' +
    'second of its response. Repeated refusals of the same kind are listed once a minute. Entries never contain ' +
    'texts.',
  querystring: ListAuditQuery,
  response: { 200: AuditList },
};

export function listAudit(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/audit', { schema }, async (request) => {
    const tenant = tenantNamed(request, request.query.tenant);
    return listed(await ledger.trail.list(tenant, filterOf(request.query), pageOf(request.query)), entryView);
  });
}

function filterOf({ by, subject, action, outcome, since, until }: z.infer<typeof ListAuditQuery>): TrailFilter {
  return {
    ...(by !== undefined && { by }),
    ...(subject !== undefined && { subject }),
    ...(action !== undefined && { action }),
    ...(outcome !== undefined && { outcome }),
    ...(since !== undefined && { since: Date.parse(since) }),
    ...(until !== undefined && { until: Date.parse(until) }),
  };
}

const entryView = ({ at, requestId, status, subject, ...entry }: TrailEntry): AuditEntryView => ({
  ...entry,
  at: isoOf(at),
  subject: subject && { ...subject },
  outcome: outcomeOf(status),
  status,
  request_id: requestId,
});

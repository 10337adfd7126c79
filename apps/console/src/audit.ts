import { type AuditEntryView, AuditList, ListAuditQuery } from '@slowwave/contracts';
import { isoOf, outcomeOf, type TrailEntry, type TrailFilter } from '@slowwave/engine';
import { given, listed, momentOf, pageOf } from '@slowwave/http';
import type { z } from 'zod';
import { routesOf } from './deps.ts';
import { tenantNamed } from './keys.ts';

const route = routesOf('audit');

export const listAudit = route('GET /v1/audit', {
  id: 'listAudit',
  summary: 'List the audit log, newest first',
  description:
    'Lists every request that changes something, reads by admins, sign-ins and refused requests, each within a ' +
    'second of its response. Repeated refusals of the same kind are listed once a minute. Entries never contain ' +
    'texts.',
  query: ListAuditQuery,
  answer: AuditList,
  handle: async ({ ledger }, { query, request }) => {
    const tenant = tenantNamed(request, query.tenant);
    return listed(await ledger.trail.list(tenant, filterOf(query), pageOf(query)), entryView);
  },
});

const filterOf = ({ by, subject, action, outcome, since, until }: z.infer<typeof ListAuditQuery>): TrailFilter =>
  given({ by, subject, action, outcome, since: momentOf(since), until: momentOf(until) });

const entryView = ({ at, requestId, status, subject, ...entry }: TrailEntry): AuditEntryView => ({
  ...entry,
  at: isoOf(at),
  subject: subject && { ...subject },
  outcome: outcomeOf(status),
  status,
  request_id: requestId,
});

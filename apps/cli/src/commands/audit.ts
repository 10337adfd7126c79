import { type AuditEntryView, AuditOutcome } from '@slowwave/contracts';
import { type Command, momentOf, oneOf, TENANT } from '../command.ts';
import { type Column, LIMIT, listing } from '../output.ts';

export const auditCommand: Command = {
  name: 'audit',
  summary: 'List the audit log, newest first.',
  about: `Lists changes, reads by admins, sign-ins and refused requests, as far as SLOWWAVE_AUDIT
has them recorded. Requires a key with the scope admin.`,
  options: {
    by: { value: 'KEY', about: 'Only actions of this key, or of operator, loopback, offline or nobody.' },
    subject: { value: 'ID', about: 'Only actions on this user, memory, batch, key, ….' },
    action: { value: 'ROUTE', about: 'Only this route, e.g. "DELETE /v1/users/{id}".' },
    outcome: { value: 'OUTCOME', about: `Only what was ${AuditOutcome.options.join(', ')}.` },
    since: { value: 'MOMENT', about: 'Only since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.' },
    until: { value: 'MOMENT', about: 'Only before this time.' },
    tenant: TENANT,
    limit: LIMIT,
  },
  run: async (call) => {
    const { given } = call;
    const query = {
      by: given.text('by'),
      subject: given.text('subject'),
      action: given.text('action'),
      outcome: oneOf(given, 'outcome', AuditOutcome.options),
      since: momentOf(given, 'since'),
      until: momentOf(given, 'until'),
      tenant: given.text('tenant'),
    };
    const { items: entries, more, text } = await listing(call, { path: '/v1/audit', query, columns: COLUMNS });
    return { value: { entries, more }, text: entries.length === 0 ? 'No entries found.' : text };
  },
};

const COLUMNS: readonly Column<AuditEntryView>[] = [
  { name: 'at', of: ({ at }) => at },
  { name: 'by', of: ({ by, session }) => (session ? `${by} (signed in)` : by) },
  { name: 'action', of: ({ action }) => action },
  { name: 'subject', of: ({ subject }) => (subject === null ? '' : `${subject.kind} ${subject.id}`) },
  { name: 'outcome', of: ({ outcome, code }) => (code === null ? outcome : `${outcome}: ${code}`) },
];

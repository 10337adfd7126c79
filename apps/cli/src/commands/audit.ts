import { type AuditEntryView, AuditOutcome } from '@slowwave/contracts';
import { listUpTo, withApi } from '../api.ts';
import { type Command, countOf, momentOf, oneOf } from '../command.ts';
import { EXIT } from '../exit.ts';
import { type Column, table } from '../output.ts';

const LIMIT_USUAL = 50;
const LIMIT_MAX = 100_000;

export const auditCommand: Command = {
  name: 'audit',
  usage: '',
  words: [0, 0],
  on: 'server or ledger',
  summary: 'List the audit log, newest first.',
  about: `Changes, what admins read, sign-ins, and what was refused; SLOWWAVE_AUDIT says what is
recorded. Needs a key with the scope admin.`,
  options: {
    by: { value: 'KEY', about: 'Only actions of this key, or of operator, loopback, offline or nobody.' },
    subject: { value: 'ID', about: 'Only actions on this user, memory, batch, key, ….' },
    action: { value: 'ROUTE', about: 'Only this route, e.g. "DELETE /v1/users/{id}".' },
    outcome: { value: 'OUTCOME', about: `Only what was ${AuditOutcome.options.join(', ')}.` },
    since: { value: 'MOMENT', about: 'Only since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.' },
    until: { value: 'MOMENT', about: 'Only before this time.' },
    tenant: { value: 'NAME', about: 'The tenant, if different from that of the key in use.' },
    limit: { value: 'N', about: `Maximum number to list. Default: ${LIMIT_USUAL}.` },
  },
  run: (call) => {
    const { given, out } = call;
    const query = {
      by: given.text('by'),
      subject: given.text('subject'),
      action: given.text('action'),
      outcome: oneOf(given, 'outcome', AuditOutcome.options),
      since: momentOf(given, 'since'),
      until: momentOf(given, 'until'),
      tenant: given.text('tenant'),
    };
    const limit = countOf(given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
    return withApi(call, { writes: false }, async (ask) => {
      const { items: entries, more } = await listUpTo<AuditEntryView>(ask, { path: '/v1/audit', query, limit });
      const rest = more ? '\n… and more; raise --limit to see them' : '';
      out.answer({ entries, more }, entries.length === 0 ? 'No entries found.' : table(COLUMNS, entries) + rest);
      return EXIT.done;
    });
  },
};

const COLUMNS: readonly Column<AuditEntryView>[] = [
  { name: 'at', of: ({ at }) => at },
  { name: 'by', of: ({ by, session }) => (session ? `${by} (signed in)` : by) },
  { name: 'action', of: ({ action }) => action },
  { name: 'subject', of: ({ subject }) => (subject === null ? '' : `${subject.kind} ${subject.id}`) },
  { name: 'outcome', of: ({ outcome, code }) => (code === null ? outcome : `${outcome}: ${code}`) },
];

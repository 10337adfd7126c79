import { type AuditEntryView, AuditOutcome, KeyScope, type KeyView, type KeyWithSecret } from '@slowwave/contracts';
import type { z } from 'zod';
import { listUpTo, ofTenant } from '../api.ts';
import {
  type Command,
  countOf,
  type Given,
  momentOf,
  type Outcome,
  oneOf,
  pathWord,
  present,
  TENANT,
} from '../command.ts';
import { UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs, table } from '../output.ts';

// None of these commands sets `writes`: keys do not concern the queue, so a server may use the folder meanwhile.

const DAYS_MAX = 3_650;
const DAY_MS = 86_400_000;
const GRACE_MAX_S = 30 * 86_400;

export const keyCommands: readonly Command[] = [
  {
    name: 'keys list',
    summary: 'List keys, newest first. Secrets are not stored and cannot be shown.',
    options: { tenant: TENANT },
    run: async (call) => {
      const query = { tenant: call.given.text('tenant') };
      const all = { path: '/v1/keys', query, limit: Number.POSITIVE_INFINITY };
      const { items: keys } = await listUpTo<KeyView>(call, all);
      return { value: { keys }, text: keys.length === 0 ? 'There are no keys.' : table(COLUMNS, keys) };
    },
  },
  {
    name: 'keys create',
    usage: '<name>',
    summary: 'Create a key. Its secret is shown once.',
    about: `Once any key exists, every request needs one. The first key must therefore be your own:
--scopes admin without --tenant. With --offline you can create keys next to a running server,
even if you have lost yours.`,
    options: {
      scopes: { value: 'LIST', about: `What the key may do, e.g. ingest,search; of ${KeyScope.options.join(', ')}.` },
      tenant: TENANT,
      user: { value: 'ID', about: 'Bind the key to this user.' },
      app: { value: 'ID', about: 'Bind the key to this app.' },
      days: { value: 'N', about: 'Days until the key expires.' },
    },
    run: async ({ given, ask }) => {
      const bound = { tenant: given.text('tenant'), user_id: given.text('user'), app_id: given.text('app') };
      const body = {
        name: given.words[0],
        scopes: scopesOf(given),
        ...present({ ...bound, expires_at: expiryOf(given) }),
      };
      return withSecret(await ask('POST', '/v1/keys', body));
    },
  },
  {
    name: 'keys revoke',
    usage: '<key id>',
    summary: 'Revoke a key permanently. Takes effect in every process within 5 s.',
    options: { tenant: TENANT },
    run: async (call) => {
      const path = ofTenant(`/v1/keys/${pathWord(call)}`, call);
      const key = await call.ask<KeyView>('DELETE', path);
      return { value: key, text: `Key ${key.id} is revoked.` };
    },
  },
  {
    name: 'keys rotate',
    usage: '<key id>',
    summary: 'Rotate the secret of a key. The new secret is shown once.',
    options: {
      tenant: TENANT,
      grace: { value: 'SECONDS', about: 'How long the current secret stays valid. Default: 0.' },
    },
    run: async (call) => {
      const { given, ask } = call;
      const grace = countOf(given, 'grace', { usual: 0, max: GRACE_MAX_S });
      const body = { grace_seconds: grace, ...present({ tenant: given.text('tenant') }) };
      return withSecret(await ask('POST', `/v1/keys/${pathWord(call)}/rotate`, body));
    },
  },
];

function scopesOf(given: Given): readonly string[] {
  const scopes = (given.text('scopes') ?? '').split(',').filter((scope) => scope !== '');
  const wrong = scopes.find((scope) => !KeyScope.options.some((known) => known === scope));
  if (scopes.length > 0 && wrong === undefined) return scopes;
  const got = wrong === undefined ? 'none' : `"${wrong}"`;
  throw new UsageError(`expected --scopes, a list of ${KeyScope.options.join(', ')}; got ${got}`, 'keys create');
}

function expiryOf(given: Given): string | null {
  if (given.text('days') === null) return null;
  const days = countOf(given, 'days', { usual: 0, max: DAYS_MAX });
  return new Date(Date.now() + days * DAY_MS).toISOString();
}

function withSecret(key: z.infer<typeof KeyWithSecret>): Outcome {
  const text = pairs([
    ['key', key.id],
    ['name', key.name],
    ['tenant', key.tenant],
    ['scopes', key.scopes.join(', ')],
    ['expires', key.expires_at],
    ['secret', key.secret],
  ]);
  const note = 'The secret is only shown now. Callers send it as "authorization: Bearer <secret>".';
  return { value: key, text, note };
}

const COLUMNS: Columns<KeyView> = {
  key: 'id',
  name: 'name',
  scopes: ({ scopes }) => scopes.join(','),
  user: 'user_id',
  app: 'app_id',
  created: 'created_at',
  used: 'last_used_at',
  ends: endOf,
};

function endOf({ revoked_at, expires_at }: KeyView): string | null {
  if (revoked_at !== null) return `revoked ${revoked_at}`;
  return expires_at === null ? null : `expires ${expires_at}`;
}

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
    return listed(call, { path: '/v1/audit', query, columns: AUDIT_COLUMNS, as: 'entries', none: 'No entries found.' });
  },
};

const AUDIT_COLUMNS: Columns<AuditEntryView> = {
  at: 'at',
  by: ({ by, session }) => (session ? `${by} (signed in)` : by),
  action: 'action',
  subject: ({ subject }) => (subject === null ? '' : `${subject.kind} ${subject.id}`),
  outcome: ({ outcome, code }) => (code === null ? outcome : `${outcome}: ${code}`),
};

import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery } from './common.ts';
import { KEYS, LINKS } from './examples.ts';

const NAME_MAX = 100;
/** The longest time that a replaced secret may stay valid: enough for a slow rollout. */
const GRACE_MAX_S = 30 * 86_400;

export const KeyScope = z.enum(['ingest', 'search', 'manage', 'subject', 'admin']);
export type KeyScope = z.infer<typeof KeyScope>;

/** The name of a tenant. */
export const TenantName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9, ".", "_", "-"');

/** Whose something is, where an operator may name any tenant. */
export const ofTenant = { tenant: TenantName.default('default') };

export const OfTenant = {
  tenant: TenantName.optional().describe('A tenant other than the key’s. Only for admins of the tenant default.'),
};

/** In a path. */
export const TenantParams = z.strictObject({ id: TenantName });

const SUBJECT_UNBOUND =
  'the scope subject is for what people may do with their own memories; set user_id, and no app_id';
const BOUND_ADMIN = 'a key bound to one user or app cannot have the scope admin, which covers a whole tenant';

export const PostKey = z
  .strictObject({
    name: z.string().trim().min(1).max(NAME_MAX).describe('A display name.'),
    scopes: z
      .array(KeyScope)
      .min(1)
      .describe(
        'What the key may do; admin includes all other scopes. subject: what a person may do with their own memories ' +
          '(see, search, correct, forget, export, pause, erase); only with user_id.',
      ),
    ...OfTenant,
    user_id: ExternalId.optional().describe('Binds the key to this user.'),
    app_id: ExternalId.optional().describe(
      'Binds the key to this app: it sees what was said in the app, and nothing that was only said in other apps.',
    ),
    expires_at: Moment.optional(),
  })
  .refine(({ scopes, user_id, app_id }) => !(scopes.includes('admin') && (user_id ?? app_id) !== undefined), {
    path: ['scopes'],
    message: BOUND_ADMIN,
  })
  .refine(
    ({ scopes, user_id, app_id }) => !scopes.includes('subject') || (user_id !== undefined && app_id === undefined),
    {
      path: ['scopes'],
      message: SUBJECT_UNBOUND,
    },
  )
  .meta({ id: 'PostKey', examples: KEYS });

export const RotateKey = z
  .strictObject({
    ...OfTenant,
    grace_seconds: z.int().min(0).max(GRACE_MAX_S).default(0).describe('How long the current secret stays valid.'),
  })
  .meta({ id: 'RotateKey', examples: [{}, { grace_seconds: 3_600 }] });

export const KeyQuery = z.strictObject(OfTenant);
export const ListKeysQuery = z.strictObject({ ...OfTenant, ...PageQuery });

export const KeyView = z
  .object({
    id: z.string(),
    tenant: z.string(),
    name: z.string(),
    scopes: z.array(KeyScope),
    user_id: z.string().nullable(),
    app_id: z.string().nullable(),
    created_at: z.string(),
    expires_at: z.string().nullable(),
    revoked_at: z.string().nullable(),
    last_used_at: z.string().nullable().describe('When it was last used, accurate to one hour.'),
    previous_until: z.string().nullable().describe('Until when the previous secret is valid after a rotation.'),
  })
  .meta({ id: 'Key' });
export type KeyView = z.infer<typeof KeyView>;

export const KeyWithSecret = KeyView.extend({
  secret: z.string().describe('Returned only once; it cannot be retrieved later.'),
}).meta({
  id: 'KeyWithSecret',
});

export const SessionView = z
  .object({
    key_id: z.string().nullable().describe('null: the static key of the server, or no key was needed.'),
    tenant: z.string(),
    scopes: z.array(KeyScope),
    user_id: z.string().nullable(),
    app_id: z.string().nullable(),
    operator: z.boolean().describe('Whether it may manage the whole installation.'),
    keyless: z
      .boolean()
      .describe('true: the server has no keys and accepts requests from its own machine without one.'),
  })
  .meta({ id: 'Session' });

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
/** Long enough for a link in a mail. */
const LINK_MAX_S = 7 * 24 * HOUR_S;

export const PostLink = z
  .strictObject({
    valid_seconds: z
      .int()
      .min(MINUTE_S)
      .max(LINK_MAX_S)
      .default(HOUR_S)
      .describe('How long the link can be opened, and how long the page stays open.'),
  })
  .meta({ id: 'PostLink', examples: LINKS });

export const LinkView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    path: z
      .string()
      .describe('The page with the secret of the link, to append to the address of this server. Returned only once.'),
    expires_at: z.string(),
  })
  .meta({ id: 'Link' });

export const EndedLinks = z.object({ ended: z.int().describe('How many links ended.') }).meta({ id: 'EndedLinks' });

const TokenExpiry = z.string().describe('Until when the token is valid, unless it is renewed.');

export const OpenedLink = SessionView.extend({
  token: z.string().describe('Sent as a key (authorization: Bearer …). Returned only once.'),
  token_expires_at: TokenExpiry,
  link_expires_at: z.string().describe('Until when the token can be renewed.'),
}).meta({ id: 'OpenedLink' });

export const RenewedToken = z
  .object({ token_expires_at: TokenExpiry, link_expires_at: z.string() })
  .meta({ id: 'RenewedToken' });

export const PauseView = z
  .object({
    user_id: z.string(),
    paused_at: z.string().nullable().describe('When memory was paused for this user; null: it is not paused.'),
  })
  .meta({ id: 'Pause' });
export type PauseView = z.infer<typeof PauseView>;

export const KeyList = listOf(KeyView).meta({ id: 'KeyList' });

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
    status: z.int(),
    code: z.string().nullable().describe('The code of the problem that was returned.'),
    request_id: z
      .string()
      .nullable()
      .describe('The value of the x-request-id header. null: removed when the owner was erased.'),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntryView = z.infer<typeof AuditEntryView>;

export const AuditList = listOf(AuditEntryView).meta({ id: 'AuditList' });

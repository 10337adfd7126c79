import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery } from './common.ts';
import { KEYS } from './examples.ts';

const NAME_MAX = 100;
/** Longest time a replaced secret may still be taken: enough for a slow rollout. */
const GRACE_MAX_S = 30 * 86_400;

export const KeyScope = z.enum(['ingest', 'search', 'manage', 'admin']);
export type KeyScope = z.infer<typeof KeyScope>;

/** A tenant, as operators name it. */
const TenantName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9, ".", "_", "-"');

export const OfTenant = {
  tenant: TenantName.optional().describe("Another tenant than the key's own; for admins of the tenant default only."),
};

/** In a path. */
export const TenantParams = z.strictObject({ id: TenantName });

const BOUND_ADMIN = 'a key for one user or app cannot have the scope admin, which is for all of a tenant';

export const PostKey = z
  .strictObject({
    name: z.string().trim().min(1).max(NAME_MAX).describe('What people call it.'),
    scopes: z.array(KeyScope).min(1).describe('What it may be used for; admin stands for all of them.'),
    ...OfTenant,
    user_id: ExternalId.optional().describe('The one user it may be used for.'),
    app_id: ExternalId.optional().describe('The one app it may be used for.'),
    expires_at: Moment.optional(),
  })
  .refine(({ scopes, user_id, app_id }) => !(scopes.includes('admin') && (user_id ?? app_id) !== undefined), {
    path: ['scopes'],
    message: BOUND_ADMIN,
  })
  .meta({ id: 'PostKey', examples: KEYS });

export const RotateKey = z
  .strictObject({
    ...OfTenant,
    grace_seconds: z.int().min(0).max(GRACE_MAX_S).default(0).describe('How long the present secret is still taken.'),
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
    last_used_at: z.string().nullable().describe('Some time within an hour of the last use.'),
    previous_until: z.string().nullable().describe('Until when the secret before the last rotation is still taken.'),
  })
  .meta({ id: 'Key' });
export type KeyView = z.infer<typeof KeyView>;

export const KeyWithSecret = KeyView.extend({ secret: z.string().describe('Told this once and never again.') }).meta({
  id: 'KeyWithSecret',
});

export const KeyList = listOf(KeyView).meta({ id: 'KeyList' });

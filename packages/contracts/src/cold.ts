import { z } from 'zod';
import { ExternalId, listOf, PageQuery } from './common.ts';
import { COLD_OWNERS } from './examples.ts';
import { TenantName } from './keys.ts';

const ofTenant = { tenant: TenantName.default('default') };
const OwnerKind = z.enum(['user', 'agent', 'run']);

export const ListColdQuery = z.strictObject({ ...ofTenant, ...PageQuery });

export const ColdOwner = z
  .object({
    kind: OwnerKind,
    id: z.string(),
    segment: z.string().describe('The name of its object in the store.'),
    state: z
      .enum(['cooling', 'cold', 'waking'])
      .describe('cooling: its rows are being removed; waking: they are being restored.'),
    since: z.string(),
    memories: z.number().int(),
    bytes: z.number().int().describe('Of the object.'),
  })
  .meta({ id: 'ColdOwner' });
export type ColdOwner = z.infer<typeof ColdOwner>;

export const ColdOwnerList = listOf(ColdOwner).meta({ id: 'ColdOwnerList' });

const named = z.strictObject({ ...ofTenant, kind: OwnerKind, id: ExternalId });
export const PostCold = named.meta({ id: 'PostCold', examples: COLD_OWNERS });
export const PostWaking = named.meta({ id: 'PostWaking', examples: COLD_OWNERS });

export const CooledView = z
  .object({
    state: z
      .enum(['asleep', 'kept'])
      .describe(
        'kept: it stays awake because work is pending, something was just written, retention has data to remove, or it is too large.',
      ),
  })
  .meta({ id: 'Cooled' });

export const WokenView = z.object({ woken: z.boolean().describe('false: it was awake.') }).meta({ id: 'Woken' });

export const SweptView = z
  .object({ deleted: z.array(z.string()).describe('Objects that the ledger did not know.') })
  .meta({ id: 'SweptSegments' });

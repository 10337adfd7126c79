import type { EntityGiven } from '@slowwave/contracts';
import type { Ledger, TenantId } from '@slowwave/engine';
import { textKept } from '../text-kept.ts';

interface Worded {
  readonly source?: EntityGiven | undefined;
  readonly destination?: EntityGiven | undefined;
  readonly quote?: string | undefined;
}

/** The same body with its texts as the tenant's policy for personal data lets them be stored; refused where it does not. */
export async function wordsKept<T extends Worded>(
  ledger: Pick<Ledger, 'settings'>,
  tenant: TenantId,
  body: T,
): Promise<T> {
  const entityKept = async (given: EntityGiven): Promise<EntityGiven> =>
    given.name !== undefined ? { ...given, name: await textKept(ledger, tenant, given.name) } : given;
  return {
    ...body,
    ...(body.source !== undefined && { source: await entityKept(body.source) }),
    ...(body.destination !== undefined && { destination: await entityKept(body.destination) }),
    ...(body.quote !== undefined && { quote: await textKept(ledger, tenant, body.quote) }),
  };
}

import type { Tools } from '../ports/tools.ts';
import type { Owner, TenantId } from '../words.ts';

interface Named {
  readonly ledgerId: string;
  readonly tenant: TenantId;
  readonly owner: Owner;
}

/** What stays of an owner that is erased: proves to who knows the id that it was. */
export const ownerHashOf = ({ hash }: Pick<Tools, 'hash'>, { ledgerId, tenant, owner }: Named): string =>
  hash(JSON.stringify([ledgerId, tenant, owner.kind, owner.id]));

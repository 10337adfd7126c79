import { createHash } from 'node:crypto';
import { type Owner, type OwnerBits, ownerBitsOf, type TenantId } from '@slowwave/engine';
import type { PlacedOwner } from '@slowwave/engine/cells';
import type { OwnerNo } from './truth.ts';

const TENANT = 'default' as TenantId;
const BITS_HEX = 4;
const NUMBER_HEX = 28;
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Owners by number, in the slots of the product's own hash. Keys end with the number, so that it is known whose they are. */
export function population(first: number) {
  const bits: OwnerBits[] = [];
  const ownerAt = (no: OwnerNo): Owner => ({ kind: 'user', id: `user-${no}` });
  const keyOf = (no: OwnerNo): string =>
    (bits[no] ?? 0).toString(16).padStart(BITS_HEX, '0') + no.toString(16).padStart(NUMBER_HEX, '0');
  const add = (): OwnerNo => bits.push(ownerBitsOf({ hash }, { tenant: TENANT, owner: ownerAt(bits.length) })) - 1;
  for (let i = 0; i < first; i += 1) add();
  return {
    add,
    count: () => bits.length,
    slotOf: (no: OwnerNo): number => bits[no] ?? 0,
    keyOf,
    ownerOf: (key: string): OwnerNo => Number.parseInt(key.slice(BITS_HEX), 16),
    placed: (no: OwnerNo): PlacedOwner => ({ tenant: TENANT, owner: ownerAt(no), key: keyOf(no) }),
  };
}

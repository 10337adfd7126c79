import { createHash } from 'node:crypto';
import type { IndexLane, IndexPoint, Json, Shelf, TenantId } from '@slowwave/engine';

/** Hex digest of values told apart whatever is in them, half characters included. */
export const hashOf = (values: readonly Json[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex');

/** 128 bits: no two ids of one installation ever share a key. */
const key = (...values: readonly string[]): string => hashOf(values).slice(0, 32);

/** One of the places where points are kept apart, each with word statistics of its own. */
export interface Place {
  readonly tenant: TenantId;
  readonly shelf: Shelf;
}

/**
 * The value of the field that every question names. No two owners share one, in whichever tenants they are, and neither do two
 * lanes of one owner: whoever comes by the same id after an erasure.
 */
export const ownerKey = ({ tenant, shelf, owner, lane }: Place & IndexLane): string =>
  key('owner', shelf, tenant, owner.kind, owner.id, lane);

/** The same as releases before lanes had it: what they wrote stays behind the alias until the index is built anew. */
export const formerOwnerKey = ({ tenant, shelf, owner }: Place & IndexLane): string =>
  key('owner', shelf, tenant, owner.kind, owner.id);

export const tenantKey = ({ tenant, shelf }: Place): string => key('tenant', shelf, tenant);

/** Of an agent, run or app that only filters. */
export const scopeKey = (id: string): string => key('scope', id);

/** The id of a point: always the same for a memory's version, so that writing twice is writing once. */
export const pointId = ({ tenant, shelf, memoryId, version }: Pick<IndexPoint, keyof Place | 'memoryId' | 'version'>) =>
  asUuid(hashOf([shelf, tenant, memoryId, version]));

/** The id of a point that is no memory: what the collection says of itself. */
export const serviceId = (name: string): string => asUuid(hashOf(['service', name]));

/** The form of a name-based UUID (version 5, variant 1) around the first bits of a digest. */
function asUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

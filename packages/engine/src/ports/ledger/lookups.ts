import type { MemoryEvent, Message, Owner, TenantId } from '../../words.ts';

/** Ids of things of one owner; what another owner has is not there, whatever id it is asked for by. */
export interface OwnedIds {
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly ids: readonly string[];
}

export interface Reach {
  readonly before: number;
  readonly after: number;
  /** Neighbours of this app alone; null: of any. */
  readonly appId: string | null;
}

/** What a search adds to what it found: one call for all of it. */
export interface LookupStore {
  /** The newest `limit` events of each memory, oldest first, by its id. */
  histories(of: OwnedIds, limit: number): Promise<ReadonlyMap<string, readonly MemoryEvent[]>>;
  /** Each message with those said before and after it in its lane, in the order of arrival, by its id. */
  around(of: OwnedIds, reach: Reach): Promise<ReadonlyMap<string, readonly Message[]>>;
}

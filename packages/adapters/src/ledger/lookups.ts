import type { MemoryEvent, Message, OwnedIds } from '@slowwave/engine';
import { type EventRow, eventFrom } from './rows/event.ts';
import { type MessageRow, messageFrom } from './rows/message.ts';

/** A message, and the id it was found around. */
export type NearRow = MessageRow & { readonly asked: string };

/** The parameters that name an owner's lane. */
export const ownerParams = ({ tenant, owner }: OwnedIds) => ({ tenant, kind: owner.kind, ownerId: owner.id });

export const historiesFrom = (rows: readonly EventRow[]): ReadonlyMap<string, readonly MemoryEvent[]> =>
  Map.groupBy(rows.map(eventFrom), ({ memoryId }) => memoryId);

export function aroundFrom(rows: readonly NearRow[]): ReadonlyMap<string, readonly Message[]> {
  const byAsked = Map.groupBy(rows, ({ asked }) => asked);
  return new Map([...byAsked].map(([id, near]) => [id, near.map(messageFrom)]));
}

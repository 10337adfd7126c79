import type { Life } from '../memories/dependents.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Undo } from '../ports/ledger/undos.ts';
import type { Dependent } from '../ports/undoer.ts';
import type { LaneId, MemoryEvent, Owner, TenantId } from '../words.ts';

/** What is to be taken back. */
export interface Decision {
  readonly lane: LaneId;
  /** The undos of the lane so far, oldest first: it was decided on no others. */
  readonly earlier: readonly Undo[];
  readonly owner: Owner;
  readonly what: Pick<Undo, 'consolidations' | 'undos' | 'to'> & { readonly kindOfUndo: Undo['kind'] };
  /** The memories it is about, with the events that are taken back of each. */
  readonly lives: readonly TakenBack[];
  /** How many explicit statements of the graph count no longer; the ledger finds them itself. */
  readonly statements: number;
  readonly dependents: readonly Dependent[];
  readonly actor: 'undo' | 'rollback';
  readonly reason: string;
}

export interface TakenBack extends Life {
  readonly retracts: readonly number[];
}

/** Memories with their events. In this order: an event that comes in between is seen, and its memory then conflicts. */
export async function livesOf(ledger: Ledger, tenant: TenantId, ids: readonly string[]): Promise<readonly Life[]> {
  const memories = await ledger.memories.many(tenant, ids);
  const events = Map.groupBy(await ledger.undos.events(tenant, ids), ({ memoryId }) => memoryId);
  return memories.map((memory) => ({ memory, events: events.get(memory.id) ?? [] }));
}

/** The lives in which something is taken back. */
export const takenBack = (lives: readonly Life[], isMeant: (event: MemoryEvent) => boolean): readonly TakenBack[] =>
  lives
    .map((life) => ({ ...life, retracts: life.events.filter(isMeant).map(({ revision }) => revision) }))
    .filter(({ retracts }) => retracts.length > 0);

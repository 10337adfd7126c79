import type {
  HistoryEvent,
  MemoryView,
  MessageHit,
  MessageList,
  RelationHit,
  SourceView,
  UserView,
} from '@slowwave/contracts';
import {
  conclusionView,
  type FoundRelation,
  type IndexHit,
  isoOf,
  isoOrNull,
  type MemoryEvent,
  type Message,
  type OwnerSummary,
  relationCore,
  type Scope,
  type Speaker,
  saidView,
  scopeView,
  type TenantId,
} from '@slowwave/engine';
import type { z } from 'zod';
import type { SearchDeps } from './deps.ts';

/** A found version; the index has all fields, so the ledger is not needed. */
export const hitView = (point: IndexHit['point']): MemoryView => ({
  id: point.memoryId,
  ...scopeView(point.scope),
  memory: point.text,
  version: point.version,
  metadata: point.metadata,
  categories: point.category === null ? [] : [point.category],
  immutable: point.immutable,
  trust: point.trust,
  flagged: point.flagged,
  ...(point.concluded !== undefined && { conclusion: conclusionView(point.concluded) }),
  ...(point.skill !== undefined && { skill: point.skill }),
  said_at: isoOf(point.saidAt.at),
  valid_from: isoOf(point.validFrom),
  ...(point.utcOffset !== undefined && { utc_offset: point.utcOffset }),
  invalid_at: isoOrNull(point.invalidAt),
  expires_at: isoOrNull(point.expiresAt),
  confirmations: point.confirmations,
  created_at: isoOf(point.createdAt),
  updated_at: isoOf(point.updatedAt),
});

export const sourceView = (message: Message, isSource: boolean): z.infer<typeof SourceView> => ({
  ...saidView(message),
  is_source: isSource,
});

/** A message near one that is asked for. */
export function nearView(message: Message, isAsked: boolean): z.infer<typeof MessageList>['results'][number] {
  return { ...saidView(message), is_asked: isAsked };
}

/** A found message: like a source, with its scope. */
export function messageHitView(message: Message, scope: Scope): Omit<z.infer<typeof MessageHit>, 'score' | 'scores'> {
  return { ...scopeView(scope), ...saidView(message) };
}

/** Events with who said what they came from. */
export const historyView =
  (speakers: ReadonlyMap<string, Speaker>) =>
  (event: MemoryEvent): HistoryEvent => ({
    id: event.id,
    memory_id: event.memoryId,
    event: event.kind,
    version: event.revision,
    previous: event.previous,
    memory: event.text,
    reason: event.reason,
    actor: event.actor,
    consolidation_id: event.consolidationId,
    retracts: [...(event.retraction?.retracts ?? [])],
    undo_id: event.retraction?.undoId ?? null,
    ...(event.rated !== undefined && { rated: event.rated }),
    sources: event.sourceIds.flatMap((id) => {
      const speaker = speakers.get(id);
      return speaker === undefined ? [] : [{ message_id: id, role: speaker.role, name: speaker.name }];
    }),
    said_at: isoOf(event.saidAt.at),
    created_at: isoOf(event.recordedAt),
  });

/** Who said what events came from. */
export const speakersOf = (
  { ledger }: Pick<SearchDeps, 'ledger'>,
  tenant: TenantId,
  events: readonly MemoryEvent[],
): Promise<ReadonlyMap<string, Speaker>> => {
  const ids = [...new Set(events.flatMap(({ sourceIds }) => sourceIds))];
  return ids.length === 0 ? Promise.resolve(new Map()) : ledger.memories.speakers(tenant, ids);
};

export const userView = ({ owner, ...summary }: OwnerSummary): z.infer<typeof UserView> => ({
  kind: owner.kind,
  id: owner.id,
  memories: summary.memories,
  pending: summary.pending,
  created_at: isoOf(summary.createdAt),
  updated_at: isoOf(summary.updatedAt),
});

export const relationHitView = (relation: FoundRelation): z.infer<typeof RelationHit> => ({
  ...relationCore(relation),
  score: relation.score,
});

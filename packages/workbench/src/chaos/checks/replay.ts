import { DEFAULT_TENANT, evolve, type LaneId, liveVersion, type MemoryEvent } from '@slowwave/engine';

/** One event of a memory, as the API shows it. */
export interface HistoryEvent {
  readonly id: string;
  readonly memory_id: string;
  readonly event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE';
  readonly version: number;
  readonly previous: string | null;
  readonly memory: string | null;
  readonly actor: string;
  readonly consolidation_id: string | null;
  readonly said_at: string;
  readonly created_at: string;
}

const HOME = {
  tenant: DEFAULT_TENANT,
  lane: 'lane_replayed' as LaneId,
  owner: { kind: 'user', id: 'replayed' },
  scope: { userId: 'replayed', agentId: null, runId: null, appId: null },
} as const;

/** The text that the events of a memory leave; null when it is deleted. */
export function replayed(events: readonly HistoryEvent[]): string | null {
  return events.length === 0 ? null : (liveVersion(evolve(HOME, null, events.map(eventOf)))?.text ?? null);
}

function eventOf(event: HistoryEvent): MemoryEvent {
  const at = Date.parse(event.said_at);
  return {
    id: event.id,
    memoryId: event.memory_id,
    revision: event.version,
    kind: event.event,
    actor: 'consolidation',
    consolidationId: null,
    factId: null,
    reason: '',
    previous: event.previous,
    // No two texts here are said at the same moment but those of one revision after the other.
    saidAt: { at, seq: event.version },
    validFrom: at,
    recordedAt: Date.parse(event.created_at),
    text: event.memory,
    details: event.event === 'DELETE' ? null : DETAILS,
    sourceIds: [],
  };
}

const DETAILS = {
  category: null,
  language: null,
  about: 'user',
  quote: null,
  sourceIds: [],
  metadata: {},
  immutable: false,
  trust: 'user',
  expiresAt: null,
} as const;

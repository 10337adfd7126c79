import type { MemoryView } from '@slowwave/contracts';
import { isPinned, newest } from '../memories/evolve.ts';
import { isoOf } from '../text/dates.ts';
import type { Memory, MemoryVersion, Scope } from '../words.ts';
import { isoOrNull } from './failures.ts';

/** A memory as the API shows it: by what was said last, where nothing else is given. */
export function memoryView(memory: Memory, version: MemoryVersion = newest(memory)): MemoryView {
  const { details } = version;
  return {
    id: memory.id,
    ...scopeView(memory.scope),
    memory: version.text,
    version: version.number,
    metadata: details.metadata,
    categories: details.category === null ? [] : [details.category],
    immutable: details.immutable,
    pinned: isPinned(memory),
    said_at: isoOf(version.saidAt.at),
    valid_from: isoOf(version.validFrom),
    ...(details.utcOffset !== undefined && { utc_offset: details.utcOffset }),
    invalid_at: isoOrNull(version.invalidAt),
    expires_at: isoOrNull(details.expiresAt),
    confirmations: memory.confirmations,
    created_at: isoOf(memory.createdAt),
    updated_at: isoOf(memory.updatedAt),
  };
}

/** The ids of a scope in the API's words. */
export interface ScopeIds {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
}

export const scopeOf = (ids: ScopeIds): Scope => ({
  userId: ids.user_id ?? null,
  agentId: ids.agent_id ?? null,
  runId: ids.run_id ?? null,
  appId: ids.app_id ?? null,
});

export const scopeView = (scope: Scope) => ({
  user_id: scope.userId,
  agent_id: scope.agentId,
  run_id: scope.runId,
  app_id: scope.appId,
});

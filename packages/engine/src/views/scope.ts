import type { Scope } from '../words.ts';

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

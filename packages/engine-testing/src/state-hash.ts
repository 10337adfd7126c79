import type { Memory } from '@slowwave/engine';
import { hashOf } from './fixed-tools.ts';

/**
 * What memories come to, distinguished from how they came about: scope, text and times of all versions, without ids,
 * numbers and confirmations. Two ledgers that went through the same conversation in any way have the same.
 */
function stateOf(memories: readonly Memory[]): readonly string[] {
  return memories
    .flatMap(({ scope, versions }) =>
      versions.map(({ text, saidAt, validFrom, invalidAt }) =>
        JSON.stringify([scope.userId, scope.agentId, scope.runId, scope.appId, text, saidAt.at, validFrom, invalidAt]),
      ),
    )
    .sort();
}

export const stateHash = (memories: readonly Memory[]): string => hashOf(stateOf(memories).join('\n'));

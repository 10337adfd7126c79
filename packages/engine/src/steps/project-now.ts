import type { EngineDeps } from '../deps.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type ProjectDeps, project } from './project.ts';

/** Memories told to the index in one go. */
const SLICE = 200;
const NEVER: Cancellation = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

/**
 * Tells the index of memories that somebody changed and waits to find changed. False when it could not be told: the
 * outbox has them, and is swept. `otherwise` is what is logged then.
 */
export async function projectNow(
  deps: ProjectDeps & Pick<EngineDeps, 'log'>,
  memoryIds: readonly string[],
  otherwise: string,
): Promise<boolean> {
  try {
    for (let start = 0; start < memoryIds.length; start += SLICE) {
      await project(deps, await deps.ledger.outbox.ofMemories(memoryIds.slice(start, start + SLICE)), NEVER);
    }
    return true;
  } catch (error) {
    deps.log.warn({ error: String(error) }, otherwise);
    return false;
  }
}

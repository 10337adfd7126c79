import type { EngineDeps } from '../deps.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type ProjectDeps, project } from './project.ts';

/** Memories told to the index in one go, and consolidations whose messages are. */
const SLICE = 200;
const CONSOLIDATIONS = 20;
const NEVER: Cancellation = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

interface Changed {
  readonly memoryIds: readonly string[];
  /** Those whose messages are found, or no more, from now on. */
  readonly consolidationIds?: readonly string[];
}

/**
 * Tells the index of what somebody changed and waits to find changed. False when it could not be told: the
 * outbox has it, and is swept. `otherwise` is what is logged then.
 */
export async function projectNow(
  deps: ProjectDeps & Pick<EngineDeps, 'log'>,
  { memoryIds, consolidationIds = [] }: Changed,
  otherwise: string,
): Promise<boolean> {
  const { outbox, speech } = deps.ledger;
  try {
    for (const ids of slices(memoryIds, SLICE))
      await project(deps, { entries: await outbox.ofMemories(ids), batches: [] }, NEVER);
    for (const ids of slices(consolidationIds, CONSOLIDATIONS))
      await project(deps, { entries: [], batches: await speech.untoldOf(ids) }, NEVER);
    return true;
  } catch (error) {
    deps.log.warn({ error: String(error) }, otherwise);
    return false;
  }
}

const slices = (ids: readonly string[], size: number): (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));

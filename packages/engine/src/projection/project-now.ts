import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { withoutVectors } from '../models/embed.ts';
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
 * fully   found by words and meaning
 * words   by its words alone: the embedder refuses the text for good, or does not answer in time; then the sweep embeds it
 * later   not yet: the outbox has it, and is swept
 */
export type Searchable = 'fully' | 'words' | 'later';

type NowDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/**
 * Tells the index of what somebody changed and waits to find changed. It waits for the embedder no longer than the embedder
 * of its deps does: without vectors it tells the words. `otherwise` is what is logged where that fails as well.
 */
export async function projectNow(deps: NowDeps, changed: Changed, otherwise: string): Promise<Searchable> {
  try {
    return (await tell(deps, changed)) ? 'words' : 'fully';
  } catch (error) {
    const isTold = asEngineError(error).code !== 'index_unavailable' && (await toldByWords(deps, changed));
    const searchable = isTold ? 'words' : 'later';
    deps.log.warn({ error: String(error), searchable }, otherwise);
    return searchable;
  }
}

/** Answers whether some of the memories are found by words alone. */
async function tell(deps: ProjectDeps, { memoryIds, consolidationIds = [] }: Changed): Promise<boolean> {
  let some = false;
  for (const ids of slices(memoryIds, SLICE)) {
    const { byWords } = await project(deps, { entries: await deps.ledger.outbox.ofMemories(ids), batches: [] }, NEVER);
    some ||= byWords;
  }
  for (const ids of slices(consolidationIds, CONSOLIDATIONS))
    await project(deps, { entries: [], batches: await deps.ledger.speech.untoldOf(ids) }, NEVER);
  return some;
}

async function toldByWords(deps: ProjectDeps, changed: Changed): Promise<boolean> {
  try {
    await tell(byWordsAlone(deps), changed);
    return true;
  } catch {
    return false;
  }
}

/** The outbox keeps it all: the sweep tells it once more, with vectors. */
function byWordsAlone(deps: ProjectDeps): ProjectDeps {
  const wordless = withoutVectors(deps);
  return { ...wordless, ledger: { ...wordless.ledger, outbox: { ...deps.ledger.outbox, clear: async () => [] } } };
}

const slices = (ids: readonly string[], size: number): (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, i) => ids.slice(i * size, (i + 1) * size));

import type { EngineDeps } from '../../deps.ts';
import type { Study } from '../../ports/ledger/graph.ts';

/** What the names of a study's answers begin with, among those of its consolidation. */
export const STEP = 'graph:';

/** Whether a study is parked if this try of it fails as well. */
export const isLastOfStudy = ({ settings }: Pick<EngineDeps, 'settings'>, { attempts }: Study): boolean =>
  attempts + 1 >= settings.maxAttempts;

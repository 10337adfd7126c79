/** What the names of a study's answers begin with, among those of its consolidation. */
export const STEP = 'graph:';

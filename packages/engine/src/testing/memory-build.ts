import type { BuildNote, IndexBuild } from '../ports/index-build.ts';
import { emptyIndex, type IndexState, keepPoint } from './memory-index.ts';

/** An index in the making beside one in memory: the reference for what the others must do. */
export function createMemoryBuild(inUse: IndexState): IndexBuild {
  let next: IndexState | null = null;
  let kept: BuildNote | null = null;
  return {
    begun: async (ledgerId) => (kept?.ledgerId === ledgerId ? kept : null),
    begin: async (note) => {
      next = emptyIndex();
      kept = note;
    },
    write: async (points) => {
      for (const point of points) keepPoint(next ?? inUse, point);
    },
    note: async (note) => {
      kept = note;
    },
    takeOver: async () => {
      if (next === null) return;
      inUse.points = next.points;
      inUse.marker = null;
      next = null;
    },
    finish: async (marker) => {
      inUse.marker = marker;
      kept = null;
    },
  };
}

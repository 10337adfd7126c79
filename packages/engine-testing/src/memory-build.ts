import type { BuildNote, IndexBuild } from '@slowwave/engine';
import { emptyIndex, forgetPoints, type IndexState, keepPoint, withdrawPoint } from './memory-index.ts';

/** An index in the making beside one in memory: the reference for what the others must do. */
export function createMemoryBuild(inUse: IndexState): IndexBuild {
  let kept: BuildNote | null = null;
  return {
    begun: async (ledgerId) => (kept?.ledgerId === ledgerId ? kept : null),
    begin: async (note) => {
      inUse.next = emptyIndex();
      kept = note;
    },
    write: async (points) => {
      for (const point of points) keepPoint(inUse.next ?? inUse, point);
    },
    forget: async (of) => forgetPoints((inUse.next ?? inUse).points, of),
    withdraw: async (withdrawals) => {
      for (const one of withdrawals) withdrawPoint(inUse.next ?? inUse, one);
    },
    note: async (note) => {
      kept = note;
    },
    takeOver: async () => {
      const { next } = inUse;
      if (next === null) return;
      inUse.points = next.points;
      inUse.withdrawn = next.withdrawn;
      inUse.marker = null;
      inUse.next = null;
    },
    finish: async (marker) => {
      inUse.marker = marker;
      kept = null;
    },
  };
}

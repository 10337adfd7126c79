import type { DependentView, UndoReport, UndoView } from '@slowwave/contracts';
import { type Dependent, isoOf, isoOrNull, type UndoReport as Report, type Undo } from '@slowwave/engine';

/** Memories an answer lists; the others are in the histories. */
const LISTED_MAX = 1_000;

export const undoView = ({ owner, ...undo }: Undo): UndoView => ({
  id: undo.id,
  kind: undo.kind,
  user_id: owner.kind === 'user' ? owner.id : null,
  agent_id: owner.kind === 'agent' ? owner.id : null,
  run_id: owner.kind === 'run' ? owner.id : null,
  to: isoOrNull(undo.to),
  consolidation_ids: [...undo.consolidations],
  undo_ids: [...undo.undos],
  memories: undo.memories,
  created_at: isoOf(undo.at),
});

export const dependentView = ({ kind, id, memoryIds }: Dependent): DependentView => ({
  kind,
  id,
  memory_ids: [...memoryIds],
});

export const reportView = ({ undo, differences, undone, redone, dependents }: Report): UndoReport => ({
  undo: undo === null ? null : undoView(undo),
  memories: differences.slice(0, LISTED_MAX).map(({ memoryId, before, after }) => ({ id: memoryId, before, after })),
  changed: differences.length,
  undone: [...undone],
  redone: [...redone],
  dependents: dependents.map(dependentView),
});

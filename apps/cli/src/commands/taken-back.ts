import type { UndoReport } from '@slowwave/contracts';
import { pairs, table } from '../output/table.ts';

/** What changes, as people read it; what would have to go along first. */
export function takenBackText({ undo, memories, changed, undone, redone, dependents }: UndoReport): string {
  const list = table(
    [
      { name: 'memory', of: ({ id }) => id },
      { name: 'before', of: ({ before }) => before },
      { name: 'after', of: ({ after }) => after },
    ],
    memories,
  );
  const counts = pairs([
    ['consolidations undone', undone.length],
    ['consolidations that count again', redone.length],
    ['memories changed', changed],
  ]);
  const along = dependents.map(({ kind, id }) => `  ${kind} ${id}`);
  return [
    ...(along.length === 0 ? [] : [`Came later, and goes along:\n${along.join('\n')}`]),
    ...(memories.length === 0 ? [] : [list]),
    counts,
    ...(undo === null ? ['Nothing was changed.'] : [`Done. To take it back: slowwave redo ${undo.id}`]),
  ].join('\n\n');
}

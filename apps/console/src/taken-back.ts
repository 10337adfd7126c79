import type { UndoReport } from '@slowwave/contracts';
import type { UndoResult } from '@slowwave/engine';
import { notFound, problem } from '@slowwave/http';
import { overtaken } from './refusals.ts';
import { dependentView, reportView } from './views/undo.ts';

/** Memories a refusal names. */
const NAMED = 20;

/** The answer to an undo, a rollback or a redo, or the refusal as a problem. 202: done, in the index once that is back. */
export function takenBack(
  result: UndoResult,
  { kind, id }: { kind: 'consolidation' | 'undo' | 'user'; id: string },
): { code: 200 | 202; report: UndoReport } {
  switch (result.kind) {
    case 'done':
      return { code: result.searchable ? 200 : 202, report: reportView(result.report) };
    case 'not_found':
      throw notFound(kind, id);
    case 'refused':
      throw problem('conflict', `${kind} ${id} was not undone: ${result.why}`);
    case 'dependents':
      throw problem(
        'has_dependents',
        `${result.dependents.length} later changes depend on ${kind} ${id}; nothing was changed. ` +
          'Check them (dry_run shows everything that would change), then send {"cascade": true} to undo them as well',
        { dependents: result.dependents.map(dependentView) },
      );
    case 'removed':
      throw problem(
        'removed_by_retention',
        `${kind} ${id} was not undone: it would restore texts of ${result.memoryIds.length} memories that retention ` +
          `has removed (history_days): ${result.memoryIds.slice(0, NAMED).join(', ')}. Nothing was changed; change ` +
          'or delete these memories individually',
      );
    case 'conflict':
      throw overtaken();
  }
}

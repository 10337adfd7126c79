import type { UndoReport } from '@slowwave/contracts';
import type { UndoResult } from '@slowwave/engine';
import { notFound, problem } from '@slowwave/http';
import { overtaken } from './refusals.ts';
import { dependentView, reportView } from './views/undo.ts';

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
      throw problem('conflict', `${kind} ${id} was not taken back: ${result.why}`);
    case 'dependents':
      throw problem(
        'has_dependents',
        `${result.dependents.length} later changes depend on ${kind} ${id}; nothing was changed. ` +
          'Look at them (dry_run shows all that would change), then send {"cascade": true} to undo them as well',
        { dependents: result.dependents.map(dependentView) },
      );
    case 'conflict':
      throw overtaken();
  }
}

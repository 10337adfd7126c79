import type { WrittenMemory } from '@slowwave/contracts';
import { type Memory, memoryView, type WriteResult } from '@slowwave/engine';
import { notFound, type ProblemError, problem } from '@slowwave/http';

interface Written {
  readonly memory: Memory;
  readonly view: WrittenMemory;
  /** Not yet: it is stored and will be found once the index is back. */
  readonly searchable: boolean;
}

/** The memory as it was written, or the refusal as a problem. `id` is null for one that did not exist before. */
export function written(result: WriteResult, id: string | null): Written {
  switch (result.kind) {
    case 'written':
      return { memory: result.memory, view: memoryView(result.memory), searchable: true };
    case 'words':
      return { memory: result.memory, view: { ...memoryView(result.memory), searchable: 'words' }, searchable: true };
    case 'unprojected':
      return { memory: result.memory, view: memoryView(result.memory), searchable: false };
    case 'not_found':
      throw notFound('memory', id ?? '');
    case 'conflict':
      throw overtaken();
    case 'no_version':
      throw problem('not_found', `memory ${id} has no such version with a text; see /v1/memories/${id}/history`);
    case 'removed':
      throw problem(
        'removed_by_retention',
        `that version of memory ${id} was removed by retention (history_days) and cannot be restored`,
      );
    case 'immutable':
      throw problem(
        'immutable_memory',
        `memory ${id} is immutable and was not changed; PATCH {"immutable": false} first`,
      );
  }
}

export function overtaken(): ProblemError {
  return problem(
    'version_conflict',
    'the memory was changed by another request, or is not at the given version; read it again and retry',
  );
}

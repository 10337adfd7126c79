import type { EntityGiven as EntityBody } from '@slowwave/contracts';
import type { EntityGiven, GraphWritten } from '@slowwave/engine';
import { notFound, problem } from '@slowwave/http';

/** What an explicit change came to, or its refusal as a problem. 202: stored, found once the index is back. */
export function changed<T>(result: GraphWritten<T>): { readonly value: T; readonly code: 200 | 202 } {
  switch (result.kind) {
    case 'written':
      return { value: result.value, code: result.searchable ? 200 : 202 };
    case 'not_found':
      throw notFound(result.what, result.id);
    case 'ambiguous':
      throw problem(
        'conflict',
        `several entities are called ${JSON.stringify(result.name)}: ${result.ids.join(', ')}; use the id of one of ` +
          'them',
      );
    case 'refused':
      throw problem('invalid_request', result.why);
    case 'conflict':
      throw problem(
        'conflict',
        'the graph was changed by another request, or its owner was erased; read it again and retry',
      );
  }
}

/** An entity as a body names it. */
export function givenOf({ id, name, kind }: EntityBody): EntityGiven {
  if (id !== undefined) return { kind: 'id', id };
  return name === undefined ? { kind: 'self' } : { kind: 'name', name, of: kind ?? null };
}

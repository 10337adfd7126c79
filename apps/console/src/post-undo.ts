import { PostUndo, UndoReport } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { takenBack } from './taken-back.ts';

const schema = {
  operationId: 'undoConsolidation',
  tags: ['manage'],
  summary: 'Undo a consolidation',
  description:
    'Reverses its changes by new events; the history is kept, and the undo can be undone. Its batches become ' +
    'undone. If later consolidations or explicit writes changed or confirmed the same memories, the response is ' +
    '409 has_dependents with a list of them and nothing is changed; with cascade they are undone as well. 202: ' +
    'done, indexed once the index is available again.',
  params: IdParams,
  body: PostUndo,
  response: { 200: UndoReport, 202: UndoReport },
};

export function postUndo(app: App, { undoer }: ConsoleDeps): void {
  app.post('/v1/consolidations/:id/undo', { schema }, async (request, reply) => {
    const { id } = request.params;
    const { cascade, dry_run } = request.body;
    const result = await undoer.undo(requestTenant(request) as TenantId, id, { cascade, dryRun: dry_run });
    const { code, report } = takenBack(result, { kind: 'consolidation', id });
    return reply.code(code).send(report);
  });
}

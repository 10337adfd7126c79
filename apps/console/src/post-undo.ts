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
    'Its memories are as if it had never been, by further events: nothing of their history goes, and the undo can be ' +
    'taken back. Its batches become undone. Where later consolidations or explicit writes changed or confirmed the same ' +
    'memories, the answer is 409 has_dependents with all of them, and nothing is changed; with cascade they are undone ' +
    'as well. 202: done, in the index once that is back.',
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

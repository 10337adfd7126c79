import { PostRedo, UndoReport } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { takenBack } from './taken-back.ts';

const schema = {
  operationId: 'redo',
  tags: ['manage'],
  summary: 'Redo what an undo or a rollback undid',
  description: 'The undone changes count again, together with everything that came later.',
  params: IdParams,
  body: PostRedo,
  response: { 200: UndoReport, 202: UndoReport },
};

export function postRedo(app: App, { undoer }: ConsoleDeps): void {
  app.post('/v1/undos/:id/redo', { schema }, async (request, reply) => {
    const { id } = request.params;
    const result = await undoer.redo(requestTenant(request) as TenantId, id, { dryRun: request.body.dry_run });
    const { code, report } = takenBack(result, { kind: 'undo', id });
    return reply.code(code).send(report);
  });
}

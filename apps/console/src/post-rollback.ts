import { OwnerParams, PostRollback, UndoReport } from '@slowwave/contracts';
import { isoOf, type Millis, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { takenBack } from './taken-back.ts';

const schema = {
  operationId: 'rollbackUser',
  tags: ['manage'],
  summary: 'Roll a user back to an earlier time',
  description:
    'Restores all memories of the user to their state at that time, by recording time (not by when things were said ' +
    'or true). Later consolidations, explicit writes and undos are reversed by new events. Waiting batches are ' +
    'not affected. A rollback can be undone.',
  params: OwnerParams,
  body: PostRollback,
  response: { 200: UndoReport, 202: UndoReport },
};

const bounds: Bounds = { by: 'user', apps: false };

export function postRollback(app: App, { undoer, tools }: ConsoleDeps): void {
  app.post('/v1/users/:id/rollback', { schema, config: { bounds } }, async (request, reply) => {
    const { id } = request.params;
    const to = Date.parse(request.body.to);
    refuseFuture(to, tools.now());
    const owner = { kind: 'user', id } as const;
    const how = { to, dryRun: request.body.dry_run };
    const result = await undoer.rollback(requestTenant(request) as TenantId, owner, how);
    const { code, report } = takenBack(result, { kind: 'user', id });
    return reply.code(code).send(report);
  });
}

function refuseFuture(to: Millis, now: Millis): void {
  if (to <= now) return;
  throw problem('invalid_request', `expected a time in the past, got ${isoOf(to)}; it is ${isoOf(now)}`, {
    errors: [{ path: 'to', message: 'expected a time in the past' }],
  });
}

import {
  type DependentView,
  ListUndosQuery,
  OwnerParams,
  PostRedo,
  PostRollback,
  PostUndo,
  UndoList,
  UndoReport,
  type UndoView,
} from '@slowwave/contracts';
import {
  type Dependent,
  isoOf,
  isoOrNull,
  type Millis,
  type UndoReport as Report,
  type TenantId,
  type Undo,
  type UndoResult,
} from '@slowwave/engine';
import { type App, IdParams, listed, notFound, pageOf, problem, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { overtaken } from './memories.ts';

/** Undoing a consolidation, rolling a user back, and redoing both. */
export function undoRoutes(app: App, deps: ConsoleDeps): void {
  postUndo(app, deps);
  postRollback(app, deps);
  postRedo(app, deps);
  listUndos(app, deps);
}

const postUndoSchema = {
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

function postUndo(app: App, { undoer }: ConsoleDeps): void {
  app.post('/v1/consolidations/:id/undo', { schema: postUndoSchema }, async (request, reply) => {
    const { id } = request.params;
    const { cascade, dry_run } = request.body;
    const result = await undoer.undo(requestTenant(request) as TenantId, id, { cascade, dryRun: dry_run });
    const { code, report } = takenBack(result, { kind: 'consolidation', id });
    return reply.code(code).send(report);
  });
}

const postRollbackSchema = {
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

function postRollback(app: App, { undoer, tools }: ConsoleDeps): void {
  app.post(
    '/v1/users/:id/rollback',
    { schema: postRollbackSchema, config: { bounds: { by: 'user', apps: false } } },
    async (request, reply) => {
      const { id } = request.params;
      const to = Date.parse(request.body.to);
      refuseFuture(to, tools.now());
      const owner = { kind: 'user', id } as const;
      const how = { to, dryRun: request.body.dry_run };
      const result = await undoer.rollback(requestTenant(request) as TenantId, owner, how);
      const { code, report } = takenBack(result, { kind: 'user', id });
      return reply.code(code).send(report);
    },
  );
}

function refuseFuture(to: Millis, now: Millis): void {
  if (to <= now) return;
  throw problem('invalid_request', `expected a time in the past, got ${isoOf(to)}; it is ${isoOf(now)}`, {
    errors: [{ path: 'to', message: 'expected a time in the past' }],
  });
}

const postRedoSchema = {
  operationId: 'redo',
  tags: ['manage'],
  summary: 'Redo what an undo or a rollback undid',
  description: 'The undone changes count again, together with everything that came later.',
  params: IdParams,
  body: PostRedo,
  response: { 200: UndoReport, 202: UndoReport },
};

function postRedo(app: App, { undoer }: ConsoleDeps): void {
  app.post('/v1/undos/:id/redo', { schema: postRedoSchema }, async (request, reply) => {
    const { id } = request.params;
    const result = await undoer.redo(requestTenant(request) as TenantId, id, { dryRun: request.body.dry_run });
    const { code, report } = takenBack(result, { kind: 'undo', id });
    return reply.code(code).send(report);
  });
}

const listUndosSchema = {
  operationId: 'listUndos',
  tags: ['manage'],
  summary: 'List undos, rollbacks and redos, newest first',
  querystring: ListUndosQuery,
  response: { 200: UndoList },
};

function listUndos(app: App, { ledger }: ConsoleDeps): void {
  app.get(
    '/v1/undos',
    { schema: listUndosSchema, config: { bounds: { by: 'query', apps: false } } },
    async (request) => {
      const { user_id } = request.query;
      const filter = user_id === undefined ? {} : { userId: user_id };
      return listed(
        await ledger.undos.list(requestTenant(request) as TenantId, filter, pageOf(request.query)),
        undoView,
      );
    },
  );
}

/** Memories a refusal names. */
const NAMED = 20;

/** The answer to an undo, a rollback or a redo, or the refusal as a problem. 202: done, in the index once that is back. */
function takenBack(
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

/** Memories an answer lists; the others are in the histories. */
const LISTED_MAX = 1_000;

const undoView = ({ owner, ...undo }: Undo): UndoView => ({
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

const dependentView = ({ kind, id, memoryIds }: Dependent): DependentView => ({
  kind,
  id,
  memory_ids: [...memoryIds],
});

const reportView = ({ undo, differences, undone, redone, dependents }: Report): UndoReport => ({
  undo: undo === null ? null : undoView(undo),
  memories: differences.slice(0, LISTED_MAX).map(({ memoryId, before, after }) => ({ id: memoryId, before, after })),
  changed: differences.length,
  undone: [...undone],
  redone: [...redone],
  dependents: dependents.map(dependentView),
});

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
  type Undo,
  type UndoResult,
} from '@slowwave/engine';
import { type FastifyReply, given, IdParams, listed, mayKnow, notFound, pageOf, problem } from '@slowwave/http';
import { routesOf } from './deps.ts';
import { overtaken } from './memories.ts';

const route = routesOf('manage');

/** Undoing a consolidation, rolling a user back, and redoing both. */
export const undoRoutes = [
  route('POST /v1/consolidations/:id/undo', {
    id: 'undoConsolidation',
    summary: 'Undo a consolidation',
    description:
      'Reverses its changes by new events; the history is kept, and the undo can be undone. Its batches become ' +
      'undone. If later consolidations or explicit writes changed or confirmed the same memories, the response is ' +
      '409 has_dependents with a list of them and nothing is changed; with cascade they are undone as well. 202: ' +
      'done, indexed once the index is available again.',
    params: IdParams,
    body: PostUndo,
    answer: { 200: UndoReport, 202: UndoReport },
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger, undoer }, { tenant, params, body, request, reply }) => {
      const found = await ledger.thoughts.get(tenant, params.id);
      if (found === null || !mayKnow(request, found.scope)) throw notFound('consolidation', params.id);
      const how = { cascade: body.cascade, dryRun: body.dry_run };
      return takenBack(await undoer.undo(tenant, params.id, how), { kind: 'consolidation', id: params.id, reply });
    },
  }),
  route('POST /v1/users/:id/rollback', {
    id: 'rollbackUser',
    summary: 'Roll a user back to an earlier time',
    description:
      'Restores all memories of the user to their state at that time, by recording time (not by when things were said ' +
      'or true). Later consolidations, explicit writes and undos are reversed by new events. Waiting batches are ' +
      'not affected. A rollback can be undone.',
    params: OwnerParams,
    body: PostRollback,
    answer: { 200: UndoReport, 202: UndoReport },
    bounds: { by: 'user', apps: false },
    handle: async ({ undoer, tools }, { tenant, params, body, reply }) => {
      const to = Date.parse(body.to);
      refuseFuture(to, tools.now());
      const owner = { kind: 'user', id: params.id } as const;
      return takenBack(await undoer.rollback(tenant, owner, { to, dryRun: body.dry_run }), { ...owner, reply });
    },
  }),
  route('POST /v1/undos/:id/redo', {
    id: 'redo',
    summary: 'Redo what an undo or a rollback undid',
    description: 'The undone changes count again, together with everything that came later.',
    params: IdParams,
    body: PostRedo,
    answer: { 200: UndoReport, 202: UndoReport },
    handle: async ({ undoer }, { tenant, params, body, reply }) => {
      const result = await undoer.redo(tenant, params.id, { dryRun: body.dry_run });
      return takenBack(result, { kind: 'undo', id: params.id, reply });
    },
  }),
  route('GET /v1/undos', {
    id: 'listUndos',
    summary: 'List undos, rollbacks and redos, newest first',
    query: ListUndosQuery,
    answer: UndoList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = given({ userId: query.user_id });
      return listed(await ledger.undos.list(tenant, filter, pageOf(query)), undoView);
    },
  }),
];

function refuseFuture(to: Millis, now: Millis): void {
  if (to <= now) return;
  throw problem('invalid_request', `expected a time in the past, got ${isoOf(to)}; it is ${isoOf(now)}`, {
    errors: [{ path: 'to', message: 'expected a time in the past' }],
  });
}

/** The most memories that an error lists. */
const NAMED = 20;

/** The result of an undo, a rollback or a redo, or its refusal as a problem. 202: done, searchable once the index is back. */
export function takenBack(
  result: UndoResult,
  { kind, id, reply }: { kind: 'consolidation' | 'undo' | 'user'; id: string; reply: FastifyReply },
): UndoReport {
  switch (result.kind) {
    case 'done':
      if (!result.searchable) reply.code(202);
      return reportView(result.report);
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
          `has removed (history_days, forgotten_days): ${result.memoryIds.slice(0, NAMED).join(', ')}. Nothing was changed; change ` +
          'or delete these memories individually',
      );
    case 'conflict':
      throw overtaken();
  }
}

/** The most memories in a response; the others are in the histories. */
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

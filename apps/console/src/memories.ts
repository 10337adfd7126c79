import {
  DeletedView,
  DeleteMemoriesQuery,
  PatchMemory,
  PostMemory,
  PostRestore,
  WrittenMemory,
} from '@slowwave/contracts';
import {
  type JsonObject,
  type Ledger,
  type Memory,
  type MemoryPatch,
  maskPersonal,
  memoryView,
  metadataKept,
  type NewMemory,
  scopeOf,
  type TenantId,
  type WriteResult,
} from '@slowwave/engine';
import { type App, concerns, IdParams, notFound, type ProblemError, problem, requestTenant } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';

/** Memories written, changed, restored and deleted by a request. */
export function memoryRoutes(app: App, deps: ConsoleDeps): void {
  postMemory(app, deps);
  patchMemory(app, deps);
  postRestore(app, deps);
  deleteMemory(app, deps);
  deleteMemories(app, deps);
}

const postMemorySchema = {
  operationId: 'postMemory',
  tags: ['manage'],
  summary: 'Write a memory verbatim',
  description:
    'No chat model is used. If the embedding model does not answer within 2 s, the memory can only be found by ' +
    'keywords until it is embedded (searchable: "words"). 201: stored and searchable. 202: stored, searchable ' +
    'once the index is available again.',
  body: PostMemory,
  response: { 201: WrittenMemory, 202: WrittenMemory },
};

function postMemory(app: App, { ledger, writer }: ConsoleDeps): void {
  app.post(
    '/v1/memories',
    { schema: postMemorySchema, config: { bounds: { by: 'body', apps: true } } },
    async (request, reply) => {
      const tenant = requestTenant(request) as TenantId;
      const text = await textKept(ledger, tenant, request.body.memory);
      const metadata = await metadataAllowed(ledger, tenant, (request.body.metadata ?? {}) as JsonObject);
      const result = await writer.add(tenant, newMemory({ ...request.body, memory: text, metadata }));
      const { memory, view, searchable } = written(result, null);
      concerns(request, { kind: 'memory', id: memory.id });
      return reply
        .code(searchable ? 201 : 202)
        .header('location', `/v1/memories/${memory.id}`)
        .send(view);
    },
  );
}

const newMemory = (body: PostMemory): NewMemory => ({
  scope: scopeOf(body),
  text: body.memory,
  metadata: (body.metadata ?? {}) as JsonObject,
  category: body.categories?.[0] ?? null,
  immutable: body.immutable,
  pinned: body.pinned,
  validFrom: momentOf(body.valid_from),
  expiresAt: momentOf(body.expires_at),
});

const momentOf = (iso: string | undefined): number | null => (iso === undefined ? null : Date.parse(iso));

const patchMemorySchema = {
  operationId: 'patchMemory',
  tags: ['manage'],
  summary: 'Change a memory',
  description: 'Omitted fields stay unchanged. The previous version is kept in the history.',
  params: IdParams,
  body: PatchMemory,
  response: { 200: WrittenMemory, 202: WrittenMemory },
};

function patchMemory(app: App, { ledger, writer }: ConsoleDeps): void {
  app.patch('/v1/memories/:id', { schema: patchMemorySchema }, async (request, reply) => {
    const { id } = request.params;
    const tenant = requestTenant(request) as TenantId;
    const { memory: given, metadata: told, ...others } = request.body;
    const kept = {
      ...(given !== undefined && { memory: await textKept(ledger, tenant, given) }),
      ...(told !== undefined && { metadata: await metadataAllowed(ledger, tenant, told as JsonObject) }),
    };
    const result = await writer.change(tenant, id, patchOf({ ...others, ...kept }));
    const { view, searchable } = written(result, id);
    return reply.code(searchable ? 200 : 202).send(view);
  });
}

const patchOf = (body: z.infer<typeof PatchMemory>): MemoryPatch => ({
  ...(body.memory !== undefined && { text: body.memory }),
  ...(body.metadata !== undefined && { metadata: body.metadata as JsonObject }),
  ...(body.categories !== undefined && { category: body.categories[0] ?? null }),
  ...(body.immutable !== undefined && { immutable: body.immutable }),
  ...(body.pinned !== undefined && { pinned: body.pinned }),
  ...(body.expires_at !== undefined && { expiresAt: body.expires_at === null ? null : Date.parse(body.expires_at) }),
  ...(body.version !== undefined && { expectedVersion: body.version }),
});

const postRestoreSchema = {
  operationId: 'restoreMemory',
  tags: ['manage'],
  summary: 'Restore a version of a memory',
  description:
    'Its text and details become current again, even if the memory was deleted or undone. An expired version is ' +
    'restored without an expiry date.',
  params: IdParams,
  body: PostRestore,
  response: { 200: WrittenMemory, 202: WrittenMemory },
};

function postRestore(app: App, { writer }: ConsoleDeps): void {
  app.post('/v1/memories/:id/restore', { schema: postRestoreSchema }, async (request, reply) => {
    const { id } = request.params;
    const result = await writer.restore(requestTenant(request) as TenantId, id, request.body.version);
    const { view, searchable } = written(result, id);
    return reply.code(searchable ? 200 : 202).send(view);
  });
}

const deleteMemorySchema = {
  operationId: 'deleteMemory',
  tags: ['manage'],
  summary: 'Delete a memory',
  description: 'It is no longer valid or found by searches. Its history is kept.',
  params: IdParams,
  response: { 200: DeletedView, 202: DeletedView },
};

function deleteMemory(app: App, { writer }: ConsoleDeps): void {
  app.delete('/v1/memories/:id', { schema: deleteMemorySchema }, async (request, reply) => {
    const { id } = request.params;
    const { searchable } = written(await writer.remove(requestTenant(request) as TenantId, id), id);
    return reply.code(searchable ? 200 : 202).send({ deleted: 1 });
  });
}

const deleteMemoriesSchema = {
  operationId: 'deleteMemories',
  tags: ['manage'],
  summary: 'Delete all memories of an owner',
  description: 'The owner is the first of user_id, agent_id and run_id that is set; the other ids only filter.',
  querystring: DeleteMemoriesQuery,
  response: { 200: DeletedView, 202: DeletedView },
};

function deleteMemories(app: App, { writer }: ConsoleDeps): void {
  app.delete(
    '/v1/memories',
    { schema: deleteMemoriesSchema, config: { bounds: { by: 'query', apps: true } } },
    async (request, reply) => {
      const result = await writer.removeAll(requestTenant(request) as TenantId, scopeOf(request.query));
      if (result.kind === 'conflict') throw overtaken();
      return reply.code(result.kind === 'written' ? 200 : 202).send({ deleted: result.count });
    },
  );
}

/** The text of a memory as the tenant's policy for personal data lets it be stored; refused where it does not. */
export async function textKept(ledger: Pick<Ledger, 'settings'>, tenant: TenantId, text: string): Promise<string> {
  const { personalData } = await ledger.settings.get(tenant);
  if (personalData === 'off') return text;
  const { text: masked, kinds } = maskPersonal(text);
  if (personalData === 'mask' || kinds.length === 0) return masked;
  const message = `expected a text without personal data, got ${[...new Set(kinds)].join(', ')}; remove it`;
  throw problem('unsupported_content', `memory: ${message} (see personal_data in /v1/settings)`, {
    errors: [{ path: 'memory', message }],
  });
}

/** The same of metadata, whose values are masked: leaving them out would not be what was asked for. */
async function metadataAllowed(
  ledger: Pick<Ledger, 'settings'>,
  tenant: TenantId,
  metadata: JsonObject,
): Promise<JsonObject> {
  const { personalData } = await ledger.settings.get(tenant);
  return personalData === 'off' ? metadata : metadataKept(metadata);
}

interface Written {
  readonly memory: Memory;
  readonly view: WrittenMemory;
  /** Not yet: it is stored and will be found once the index is back. */
  readonly searchable: boolean;
}

/** The memory as it was written, or the refusal as a problem. `id` is null for one that did not exist before. */
function written(result: WriteResult, id: string | null): Written {
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

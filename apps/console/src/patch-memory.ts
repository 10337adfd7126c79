import { PatchMemory, WrittenMemory } from '@slowwave/contracts';
import type { JsonObject, MemoryPatch, TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import type { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { written } from './refusals.ts';
import { metadataAllowed, textKept } from './text-kept.ts';

const schema = {
  operationId: 'patchMemory',
  tags: ['manage'],
  summary: 'Change a memory',
  description: 'Omitted fields stay unchanged. The previous version is kept in the history.',
  params: IdParams,
  body: PatchMemory,
  response: { 200: WrittenMemory, 202: WrittenMemory },
};

export function patchMemory(app: App, { ledger, writer }: ConsoleDeps): void {
  app.patch('/v1/memories/:id', { schema }, async (request, reply) => {
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

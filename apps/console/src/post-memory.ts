import { PostMemory, WrittenMemory } from '@slowwave/contracts';
import { type JsonObject, type NewMemory, scopeOf, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, concerns, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';
import { written } from './refusals.ts';
import { metadataAllowed, textKept } from './text-kept.ts';

const schema = {
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

const bounds: Bounds = { by: 'body', apps: true };

export function postMemory(app: App, { ledger, writer }: ConsoleDeps): void {
  app.post('/v1/memories', { schema, config: { bounds } }, async (request, reply) => {
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
  });
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

import { type MessageBody, type PostBatch, textOf } from '@slowwave/contracts';
import {
  type BatchSettings,
  estimateTokens,
  type JsonObject,
  type NewBatch,
  type NewMessage,
  scopeOf,
  type TenantId,
  type Tools,
} from '@slowwave/engine';
import { canonical } from './canonical.ts';
import { checkImages } from './images.ts';

interface Posted {
  readonly tenant: TenantId;
  readonly body: PostBatch;
  readonly key: string | null;
  /** A model is there that describes images. */
  readonly images: boolean;
}

/** A posted batch as the ledger takes it. */
export function accept(tools: Tools, { tenant, body, key, images }: Posted): NewBatch {
  checkImages(body.messages, images);
  const batchAt = momentOf(body.timestamp);
  return {
    id: tools.id('bat'),
    tenant,
    scope: scopeOf(body),
    settings: settingsOf(body),
    metadata: (body.metadata ?? {}) as JsonObject,
    messages: body.messages.map((message) => newMessage(tools.id('msg'), message, batchAt)),
    tokens: body.messages.reduce((sum, { content }) => sum + estimateTokens(textOf(content)), 0),
    acceptedAt: tools.now(),
    flush: body.flush,
    idempotency: key === null ? null : { key, bodyHash: hashOf(tools, body) },
  };
}

const settingsOf = (body: PostBatch): BatchSettings => ({
  infer: body.infer,
  mode: body.mode,
  instructions: body.instructions ?? null,
  includes: body.includes ?? null,
  excludes: body.excludes ?? null,
  memoryType: body.memory_type ?? null,
  expiresAt: momentOf(body.expires_at),
});

const newMessage = (id: string, message: MessageBody, batchAt: number | null): NewMessage => ({
  id,
  clientId: message.id ?? null,
  role: message.role,
  content: message.content,
  name: message.name ?? null,
  at: momentOf(message.timestamp) ?? batchAt,
});

const momentOf = (iso: string | undefined): number | null => (iso === undefined ? null : Date.parse(iso));

/** Of everything but the key itself, which may come in the header one time and in the body another. */
function hashOf(tools: Tools, body: PostBatch): string {
  const { idempotency_key: _key, ...rest } = body;
  return tools.hash(canonical(rest));
}

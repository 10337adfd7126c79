import { type MessageBody, type PostBatch, textOf } from '@slowwave/contracts';
import { ownerBitsOf } from '../ids.ts';
import type { NewBatch, NewMessage } from '../ports/ledger/batches.ts';
import type { Tools } from '../ports/tools.ts';
import { millisOf, writtenOffset, zoneClock } from '../text/dates.ts';
import { canonical, estimateTokens } from '../text/normalise.ts';
import { scopeOf } from '../views/views.ts';
import { type BatchSettings, type JsonObject, type Millis, ownerOf, type TenantId } from '../words.ts';
import { type SaidWhen, timeGiven } from './message.ts';

export interface Posted {
  readonly tenant: TenantId;
  readonly body: Omit<PostBatch, 'flush' | 'priority'> & Partial<Pick<PostBatch, 'flush' | 'priority'>>;
  /** The idempotency key, wherever it stood. */
  readonly key: string | null;
  /** The tenant's, where the body names none. */
  readonly timezone: string | null;
  /** Whether the key it was posted with is for one app. */
  readonly ownAppOnly: boolean;
}

/** A posted batch as the ledger takes it. */
export function draftBatch(tools: Tools, { tenant, body, key, timezone, ownAppOnly }: Posted): NewBatch {
  const acceptedAt = tools.now();
  const timeOf = timesOf({ body, timezone }, acceptedAt);
  const scope = scopeOf(body);
  const bits = ownerBitsOf(tools, { tenant, owner: ownerOf(scope) });
  return {
    id: tools.id('bat', bits),
    tenant,
    scope,
    settings: { ...settingsOf(body), ...(ownAppOnly && { ownAppOnly }) },
    metadata: (body.metadata ?? {}) as JsonObject,
    messages: body.messages.map((message) => newMessage(tools.id('msg', bits), message, timeOf(message))),
    tokens: body.messages.reduce((sum, { content }) => sum + estimateTokens(textOf(content)), 0),
    acceptedAt,
    flush: body.flush ?? false,
    priority: body.priority ?? 'live',
    idempotency: key === null ? null : { key, bodyHash: hashOf(tools, body) },
  };
}

const settingsOf = (body: Posted['body']): BatchSettings => ({
  mode: body.mode,
  instructions: body.instructions ?? null,
  includes: body.includes ?? null,
  excludes: body.excludes ?? null,
  expiresAt: momentOf(body.expires_at),
  ...(body.graph !== undefined && { graph: body.graph }),
});

/** When a message was said, and what its speaker's clock showed then: by its own time, else by the zone. */
function timesOf(
  { body, timezone }: Pick<Posted, 'body' | 'timezone'>,
  acceptedAt: Millis,
): (message: MessageBody) => SaidWhen {
  const named = body.timezone ?? timezone;
  const zone = named === null ? null : zoneClock(named);
  return (message) => {
    const given = message.timestamp ?? body.timestamp;
    const at = momentOf(given);
    const written = given === undefined ? null : writtenOffset(given);
    return timeGiven({ at, offset: written ?? zone?.(at ?? acceptedAt) ?? null }, acceptedAt);
  };
}

const newMessage = (id: string, message: MessageBody, time: SaidWhen): NewMessage => ({
  id,
  clientId: message.id ?? null,
  role: message.role,
  content: message.content,
  name: message.name ?? null,
  ...time,
});

const momentOf = (iso: string | undefined): Millis | null => (iso === undefined ? null : millisOf(iso));

/** Of everything but the key itself, which may come in the header one time and in the body another. */
function hashOf(tools: Tools, body: Posted['body']): string {
  const { idempotency_key: _key, priority, ...rest } = body;
  // The default means the same as none.
  return tools.hash(canonical(priority === 'backfill' ? { ...rest, priority } : rest));
}

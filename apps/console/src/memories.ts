import {
  DELETED_LISTED,
  DELETED_TEXT_MAX,
  DeletedMemoriesView,
  DeleteMemoriesQuery,
  DeleteMemoryQuery,
  ForgottenView,
  PatchMemory,
  PostFeedback,
  PostMemory,
  PostRestore,
  WITHDRAWN_MAX,
  WithdrawnView,
  WithdrawQuery,
  WrittenMemory,
} from '@slowwave/contracts';
import {
  type Fall,
  inApp,
  type JsonObject,
  type Ledger,
  type Memory,
  type MemoryPatch,
  maskPersonal,
  maskSecrets,
  memoryView,
  type NewMemory,
  namedIdsIn,
  narrowingFilterIn,
  newest,
  scopeOf,
  type TenantId,
  valuesMasked,
  type WriteResult,
} from '@slowwave/engine';
import {
  concerns,
  type FastifyReply,
  type FastifyRequest,
  given,
  IdParams,
  isForOneApp,
  mayKnow,
  momentOf,
  notFound,
  ownApp,
  type ProblemError,
  principalOf,
  problem,
} from '@slowwave/http';
import type { z } from 'zod';
import { routesOf } from './deps.ts';
import { refusePaused } from './subjects.ts';

const route = routesOf('manage');

/** Memories written, changed, rated, restored and deleted by a request. */
export const memoryRoutes = [
  route('POST /v1/memories', {
    id: 'postMemory',
    summary: 'Write a memory verbatim',
    description:
      'No chat model is used. If the embedding model does not answer within 2 s, the memory can only be found by ' +
      'keywords until it is embedded (searchable: "words"). 201: stored and searchable. 202: stored, searchable ' +
      'once the index is available again.',
    body: PostMemory,
    answer: { 201: WrittenMemory, 202: WrittenMemory },
    bounds: { by: 'body', apps: true },
    handle: async (deps, { tenant, body, request, reply }) => {
      const { ledger, writer } = deps;
      await refusePaused(deps, tenant, scopeOf(body));
      const text = await textKept(ledger, tenant, body.memory);
      const metadata = await metadataAllowed(ledger, tenant, (body.metadata ?? {}) as JsonObject);
      const memory = written(await writer.add(tenant, newMemory({ ...body, memory: text, metadata })), null, reply);
      concerns(request, { kind: 'memory', id: memory.id });
      reply.header('location', `/v1/memories/${memory.id}`);
      return memory;
    },
  }),
  route('PATCH /v1/memories/:id', {
    id: 'patchMemory',
    summary: 'Change a memory',
    description: 'Omitted fields stay unchanged. The previous version is kept in the history.',
    params: IdParams,
    body: PatchMemory,
    answer: { 200: WrittenMemory, 202: WrittenMemory },
    bounds: { by: 'found', apps: false },
    subject: true,
    handle: async ({ ledger, writer }, { tenant, params: { id }, body, request, reply }) => {
      await requireKnown(ledger, request, id);
      const { memory: text, metadata, ...others } = body;
      const kept = {
        ...(text !== undefined && { memory: await textKept(ledger, tenant, text) }),
        ...(metadata !== undefined && { metadata: await metadataAllowed(ledger, tenant, metadata as JsonObject) }),
      };
      return written(await writer.change(tenant, id, patchOf({ ...others, ...kept })), id, reply);
    },
  }),
  route('POST /v1/memories/:id/restore', {
    id: 'restoreMemory',
    summary: 'Restore a version of a memory',
    description:
      'Its text and details become current again, even if the memory was deleted or undone. An expired version is ' +
      'restored without an expiry date.',
    params: IdParams,
    body: PostRestore,
    answer: { 200: WrittenMemory, 202: WrittenMemory },
    bounds: { by: 'found', apps: false },
    subject: true,
    handle: async ({ ledger, writer }, { tenant, params: { id }, body, request, reply }) => {
      await requireKnown(ledger, request, id);
      return written(await writer.restore(tenant, id, body.version), id, reply);
    },
  }),
  route('POST /v1/memories/:id/feedback', {
    id: 'postFeedback',
    summary: 'Rate a memory',
    description:
      'Moves the memory up or down in search results, within bounds. very_negative also proposes to delete it, see ' +
      '/v1/reviews. A rating belongs to one version: a new text starts unrated. The last rating counts; repeating it changes nothing.',
    params: IdParams,
    body: PostFeedback,
    answer: { 200: WrittenMemory, 202: WrittenMemory },
    bounds: { by: 'found', apps: true },
    handle: async ({ ledger, rater }, { tenant, params: { id }, body, request, reply }) => {
      await requireKnown(ledger, request, id);
      const appId = ownApp(request);
      const { rating, reason, version } = body;
      const feedback = {
        rating: rating === 'none' ? null : rating,
        reason: reason === undefined ? null : await reasonKept(ledger, tenant, reason),
        appId,
        ...(version !== undefined && { version }),
      };
      return written(await rater.rate(tenant, id, feedback), id, reply);
    },
  }),
  route('DELETE /v1/memories/:id', {
    id: 'deleteMemory',
    summary: 'Delete a memory',
    description:
      'It can no longer be found, nor can what was derived from it: its words in messages, relations and ' +
      'entities based on it alone, and summaries. Its history is kept; restoring a version restores all of this.',
    params: IdParams,
    query: DeleteMemoryQuery,
    answer: { 200: ForgottenView, 202: ForgottenView },
    bounds: { by: 'found', apps: false },
    subject: true,
    handle: async ({ ledger, writer }, { tenant, params: { id }, query, request, reply }) => {
      await requireKnown(ledger, request, id);
      const fall = await writer.fallOf(tenant, id);
      if (fall === null) throw notFound('memory', id);
      const isDry = query.dry_run === 'true';
      if (!isDry) written(await writer.remove(tenant, id), id, reply);
      return { deleted: isDry ? 0 : 1, dry_run: isDry, ...fallView(fall) };
    },
  }),
  route('DELETE /v1/memories', {
    id: 'deleteMemories',
    summary: 'Delete all memories of an owner',
    description:
      'The owner is the first of user_id, agent_id and run_id that is set; the other ids and filters only narrow it. A ' +
      'filter that matches every memory, such as {}, is refused. A key bound to an app does not delete memories that other apps ' +
      'know as well. With dry_run=true, nothing is deleted.',
    query: DeleteMemoriesQuery,
    answer: { 200: DeletedMemoriesView, 202: DeletedMemoriesView },
    bounds: { by: 'query', apps: true },
    handle: async ({ writer }, { tenant, query, request, reply }) => {
      const dryRun = query.dry_run === 'true';
      const which = { ownApp: isForOneApp(request), where: narrowingFilterIn(query.filters) };
      const result = await writer.removeAll(tenant, scopeOf(query), { ...which, dryRun, named: DELETED_LISTED });
      if (result.kind === 'conflict') throw overtaken();
      if (result.kind !== 'written') reply.code(202);
      return { deleted: dryRun ? 0 : result.count, dry_run: dryRun, ...deletedList(result) };
    },
  }),
  route('DELETE /v1/ids/memories', {
    id: 'withdrawMemories',
    summary: 'Withdraw what was said under an agent, run or app',
    description:
      'Applies to the memories of all owners that match all of the given ids. A memory that was said nowhere else is deleted, and ' +
      'can be restored. A memory that was also said elsewhere keeps what was said there; POST /v1/undos/{id}/redo reverts that. ' +
      `At most about ${WITHDRAWN_MAX} memories per request: repeat it while more is true.`,
    query: WithdrawQuery,
    answer: { 200: WithdrawnView, 202: WithdrawnView },
    handle: async ({ withdrawer }, { tenant, query, reply }) => {
      const dryRun = query.dry_run === 'true';
      const how = { dryRun, most: WITHDRAWN_MAX, listed: DELETED_LISTED };
      const { first, searchable, ...counts } = await withdrawer.withdraw(tenant, namedIdsIn(query), how);
      if (!searchable) reply.code(202);
      return { ...counts, dry_run: dryRun, memories: first.map(deletedView) };
    },
  }),
];

/** Throws unless the key may know of the memory: to one for another user or app it does not exist. */
async function requireKnown(ledger: Pick<Ledger, 'memories'>, request: FastifyRequest, id: string): Promise<void> {
  const { tenant, userId, appId } = principalOf(request);
  if (userId === null && appId === null) return;
  const memory = await ledger.memories.get(tenant as TenantId, id);
  const known = memory === null || appId === null ? memory : inApp(memory, appId);
  if (known === null || !mayKnow(request, known.scope)) throw notFound('memory', id);
}

const deletedList = ({ count, first }: { count: number; first: readonly Memory[] }) => ({
  count,
  memories: first.map(deletedView),
  more: count > first.length,
});

/** A memory that is gone, as it was. */
const deletedView = (memory: Memory): { id: string; memory: string } => ({
  id: memory.id,
  memory: newest(memory).text.slice(0, DELETED_TEXT_MAX),
});

const fallView = ({
  messages,
  relations,
  weakened,
  entities,
  summaries,
}: Fall): Pick<ForgottenView, 'fell' | 'stays'> => ({
  fell: {
    messages: messages.map(({ id, hidden }) => ({ message_id: id, hidden })),
    relations: [...relations],
    entities: [...entities],
    summaries,
  },
  stays: {
    messages: messages
      .filter(({ hidden }) => hidden === 'words')
      .map(({ id, otherMemoryIds }) => ({ message_id: id, memory_ids: [...otherMemoryIds] })),
    relations: [...weakened],
  },
});

const newMemory = (body: PostMemory): NewMemory => ({
  scope: scopeOf(body),
  text: body.memory,
  metadata: (body.metadata ?? {}) as JsonObject,
  category: body.categories?.[0] ?? null,
  immutable: body.immutable,
  pinned: body.pinned,
  trust: body.trust,
  validFrom: momentOf(body.valid_from) ?? null,
  expiresAt: momentOf(body.expires_at) ?? null,
});

const patchOf = (body: z.infer<typeof PatchMemory>): MemoryPatch =>
  given({
    text: body.memory,
    metadata: body.metadata as JsonObject | undefined,
    category: body.categories && (body.categories[0] ?? null),
    immutable: body.immutable,
    pinned: body.pinned,
    trust: body.trust,
    expiresAt: body.expires_at === null ? null : momentOf(body.expires_at),
    expectedVersion: body.version,
  });

/** The text of a memory, masked as the tenant's policy for personal data demands; throws if the policy refuses it. */
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

/** Why somebody rates as they do: secrets are always masked, personal data as the tenant's policy demands. */
async function reasonKept(ledger: Pick<Ledger, 'settings'>, tenant: TenantId, reason: string): Promise<string> {
  const { personalData } = await ledger.settings.get(tenant);
  const { text } = maskSecrets(reason);
  return personalData === 'off' ? text : maskPersonal(text).text;
}

/** The same for metadata, whose values are always masked: omitting them would lose what was sent. */
async function metadataAllowed(
  ledger: Pick<Ledger, 'settings'>,
  tenant: TenantId,
  metadata: JsonObject,
): Promise<JsonObject> {
  const { personalData } = await ledger.settings.get(tenant);
  return personalData === 'off' ? metadata : valuesMasked(metadata);
}

/** The memory as it was written, or the refusal as a problem. `id` is null for one that did not exist before. */
function written(result: WriteResult, id: string | null, reply: FastifyReply): WrittenMemory {
  switch (result.kind) {
    case 'written':
      return memoryView(result.memory);
    case 'words':
      return { ...memoryView(result.memory), searchable: 'words' };
    case 'unprojected':
      reply.code(202); // stored, and searchable once the index is back
      return memoryView(result.memory);
    case 'not_found':
      throw notFound('memory', id ?? '');
    case 'conflict':
      throw overtaken();
    case 'no_version':
      throw problem('not_found', `memory ${id} has no such version with a text; see /v1/memories/${id}/history`);
    case 'removed':
      throw problem(
        'removed_by_retention',
        `it is too late: that version of memory ${id} was removed by retention (history_days, forgotten_days)`,
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

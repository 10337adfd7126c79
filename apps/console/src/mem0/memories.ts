import {
  type ContextResult,
  type DeletedMemoriesView,
  type HistoryEvent,
  type MemoryView,
  Metadata,
  type UsedIdView,
  type UserView,
  type WithdrawnView,
} from '@slowwave/contracts';
import { type App, countMore, type FastifyRequest, notFound, problem } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, everything, isNotFound, pageOf, unsupported } from './ask.ts';
import {
  also,
  Ids,
  idsIn,
  type Json,
  mem0Entity,
  mem0Event,
  mem0Memory,
  mem0Page,
  memoryPath,
  momentOf,
  PageFields,
  queryText,
  sent,
} from './format.ts';
import {
  EVERYBODY,
  hasOwner,
  IDS,
  LISTED_MAX,
  meansOthers,
  memoriesOf,
  OWNERS,
  ownerIn,
  ownersIn,
  UNDER,
} from './owners.ts';

const MemoryId = z.strictObject({ id: z.string() });

const ChangeBody = sent({
  text: z.string().optional(),
  metadata: Metadata.optional(),
  expiration_date: z.string().nullish(),
  timestamp: z.unknown().optional(),
});

/** Reading, changing, deleting one memory, and its history. */
export function oneMemory(app: App, ask: Ask, at: string): void {
  app.get(`${at}/:id`, { schema: { params: MemoryId } }, async (request) =>
    mem0Memory(await ask<MemoryView>(request, { method: 'GET', path: memoryPath(request.params.id) })),
  );
  app.put(`${at}/:id`, { schema: { params: MemoryId, body: ChangeBody } }, async (request) => {
    const { text, metadata, expiration_date, timestamp } = request.body;
    if (timestamp != null) throw unsupported('timestamp of a change', 'omit it; the time of the request is used');
    const body = {
      ...(text !== undefined && { memory: text }),
      ...(metadata !== undefined && { metadata }),
      ...(expiration_date !== undefined && {
        expires_at: expiration_date === null ? null : momentOf(expiration_date),
      }),
    };
    return mem0Memory(await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(request.params.id), body }));
  });
  // What a memory superseded are versions of it here, so that linked ones go with it in any case.
  const deletion = { params: MemoryId, querystring: sent({ delete_linked: z.enum(['true', 'false']).nullish() }) };
  app.delete(`${at}/:id`, { schema: deletion }, async (request) => {
    await ask(request, { method: 'DELETE', path: memoryPath(request.params.id) });
    return { message: 'Memory deleted successfully!' };
  });
  app.get(`${at}/:id/history`, { schema: { params: MemoryId } }, async (request) => {
    const path = `${memoryPath(request.params.id)}/history`;
    const events = await everything<HistoryEvent>(ask, request, { path });
    const userId = await userOf(ask, request);
    // mem0's histories have no ratings in them.
    return events.filter(({ event }) => event !== 'FEEDBACK').map(mem0Event(userId));
  });
}

/** Of a deleted memory only its history is left. */
async function userOf(ask: Ask, request: FastifyRequest): Promise<string | null> {
  const { id } = request.params as z.infer<typeof MemoryId>;
  try {
    return (await ask<MemoryView>(request, { method: 'GET', path: memoryPath(id) })).user_id;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

const SEVERAL_MAX = 1_000;

const Changes = sent({
  memories: z
    .array(sent({ memory_id: z.string(), text: z.string().nullish(), metadata: Metadata.nullish() }))
    .min(1)
    .max(SEVERAL_MAX),
});
const Deletions = sent({
  memories: z
    .array(z.strictObject({ memory_id: z.string() }))
    .min(1)
    .max(SEVERAL_MAX),
});

/** Several memories at once, each by its id. */
export function severalMemories(app: App, ask: Ask): void {
  app.put('/v1/batch', { schema: { body: Changes } }, async (request) => {
    for (const { memory_id, text, metadata } of request.body.memories) {
      const body = { ...(text != null && { memory: text }), ...(metadata != null && { metadata }) };
      await ask<MemoryView>(request, { method: 'PATCH', path: memoryPath(memory_id), body });
    }
    return { message: `Successfully updated ${request.body.memories.length} memories` };
  });
  app.delete('/v1/batch', { schema: { body: Deletions } }, async (request) => {
    for (const { memory_id } of request.body.memories)
      await ask(request, { method: 'DELETE', path: memoryPath(memory_id) });
    return { message: `Successfully deleted ${request.body.memories.length} memories` };
  });
}

const RATINGS = { POSITIVE: 'positive', NEGATIVE: 'negative', VERY_NEGATIVE: 'very_negative' } as const;

const FeedbackBody = sent({
  memory_id: z.string(),
  feedback: z.enum(['POSITIVE', 'NEGATIVE', 'VERY_NEGATIVE']).nullish(),
  feedback_reason: z.string().max(2_000).nullish(),
});

/** Feedback without a value takes back what was said before. */
export function feedback(app: App, ask: Ask): void {
  app.post('/v1/feedback', { schema: { body: FeedbackBody } }, async (request) => {
    const { memory_id, feedback: given, feedback_reason: reason } = request.body;
    const rating = given == null ? 'none' : RATINGS[given];
    const body = { rating, ...(reason != null && reason.trim() !== '' && { reason }) };
    await ask(request, { method: 'POST', path: `${memoryPath(memory_id)}/feedback`, body });
    return { id: memory_id, feedback: given ?? null, feedback_reason: reason ?? null };
  });
}

const Filters = z.record(z.string(), z.unknown());
/** The schema as an object, or as the text of one. */
const CreateExport = sent({
  ...Ids,
  filters: Filters.nullish(),
  schema: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish(),
  export_instructions: z.string().nullish(),
});
const GetExport = sent({ ...Ids, memory_export_id: z.string().nullish(), filters: Filters.nullish() });

/**
 * An export is only its filters: it is created when it is fetched, from the current memories. No model converts them to
 * the schema.
 */
export function memoryExports(app: App, ask: Ask): void {
  app.post('/v1/exports', { schema: { body: CreateExport } }, async (request) => {
    const filters = also(idsIn(request.body), request.body.filters ?? null);
    await ownersIn(ask, request, { filters, most: LISTED_MAX }); // reports mistakes now
    return {
      message: 'Memory export request received. The export will be ready when it is fetched.',
      id: idOf(filters),
    };
  });
  app.post('/v1/exports/get', { schema: { body: GetExport } }, async (request) => {
    const { memory_export_id: id, filters } = request.body;
    const given = id == null ? also(idsIn(request.body), filters ?? null) : filtersOf(id);
    const owners = await ownersIn(ask, request, { filters: given, most: LISTED_MAX });
    const all = new Map<string, object>();
    for (const one of owners) {
      for (const memory of await memoriesOf(ask, request, one)) all.set(memory.id, mem0Memory(memory));
    }
    return { memories: [...all.values()] };
  });
  app.post('/v1/summary', { schema: { body: GetExport } }, async (request) => {
    const { scope } = ownerIn(also(idsIn(request.body), request.body.filters ?? null));
    const body = { ...scope, sections: ['profile', 'summary'], format: 'text' };
    const { text } = await ask<z.infer<typeof ContextResult>>(request, { method: 'POST', path: '/v1/context', body });
    return { summary: text };
  });
}

const PREFIX = 'export_';

const idOf = (filters: Json): string => `${PREFIX}${Buffer.from(JSON.stringify(filters)).toString('base64url')}`;

function filtersOf(id: string): Json {
  try {
    return Filters.parse(JSON.parse(Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8')));
  } catch {
    throw problem('invalid_request', 'unknown export id; create an export first');
  }
}

// Everything of an owner, of all of a kind, or of everybody.

/** A blank id is a mistake here: without it somebody else's memories would be meant. */
const Named = z.string().min(1).nullish();
const OwnerQuery = sent({
  user_id: Named,
  agent_id: Named,
  run_id: Named,
  app_id: Named,
  filters: z.string().nullish(),
});
const NamedIds = z.strictObject({ user_id: Named, agent_id: Named, run_id: Named, app_id: Named });

/** Everything of one owner, or of all users, agents or runs, and what was said under an agent, run or app. */
export function deleteOfOwner(app: App, ask: Ask, at: string): void {
  app.delete(at, { schema: { querystring: OwnerQuery } }, async (request) => {
    const { filters, ...named } = request.query;
    const ids = { ...(filters != null && idsIn(idsInText(filters))), ...idsIn(named) };
    let done = NOTHING;
    for (const one of await deletedOwners(ask, request, ids)) {
      const others = meansOthers(request, one);
      if (!(others && isAppAlone(one))) done = sumOf(done, await deleteOwned(ask, request, one));
      if (others) done = sumOf(done, await withdraw(ask, request, { ...one.ids, ...one.scope }));
    }
    return { message: `Memories deleted successfully! ${countsOf(done)}`, ...done };
  });
}

interface Deleted extends Owned {
  /** As they were asked for. */
  readonly ids: GivenIds;
}

/** Whose memories ids mean. "*" for each of the four is mem0's word for all that there is. */
async function deletedOwners(ask: Ask, request: FastifyRequest, ids: GivenIds): Promise<readonly Deleted[]> {
  const wild = Object.values(ids).filter((id) => id === EVERYBODY).length;
  if (wild === 0) return [{ scope: ids, filters: null, ids }];
  const asked = wild < IDS.length ? [ids] : OWNERS.map((kind) => ({ [kind]: EVERYBODY }));
  const found: Deleted[] = [];
  for (const one of asked) {
    const owners = await ownersIn(ask, request, { filters: one, most: LISTED_MAX });
    found.push(...owners.map((owner) => ({ ...owner, ids: one })));
  }
  return found;
}

type GivenIds = Readonly<Record<string, string>>;

/** The ids as JSON, or as mem0's typed Python client puts a dict into a query. */
function idsInText(text: string): z.infer<typeof NamedIds> {
  try {
    return NamedIds.parse(JSON.parse(PYTHON_DICT.test(text) ? text.replaceAll("'", '"') : text));
  } catch {
    throw problem(
      'invalid_request',
      'filters of a deletion: expected only ids, like {"user_id": "ana"}; other filters do not narrow it',
    );
  }
}

const PYTHON_DICT = /^\{('\w+': '[^'"\\]*'(, )?)+\}$/;

const isAppAlone = (one: Owned): boolean => one.scope.app_id !== undefined && !hasOwner(one);

/** What was deleted; and what stays, since it was also said elsewhere. */
interface Deletion {
  readonly deleted: number;
  readonly kept: number;
}

const NOTHING: Deletion = { deleted: 0, kept: 0 };
const sumOf = (a: Deletion, b: Deletion): Deletion => ({ deleted: a.deleted + b.deleted, kept: a.kept + b.kept });
const countsOf = ({ deleted, kept }: Deletion): string =>
  kept === 0 ? `(${deleted})` : `(${deleted} deleted, ${kept} kept because they were also said elsewhere)`;

interface Owned {
  readonly scope: GivenIds;
  readonly filters: Json | null;
}

async function deleteOwned(ask: Ask, request: FastifyRequest, { scope, filters }: Owned): Promise<Deletion> {
  const path = `/v1/memories${queryText({ ...scope, ...(filters && { filters: JSON.stringify(filters) }) })}`;
  const { deleted } = await ask<DeletedMemoriesView>(request, { method: 'DELETE', path });
  countMore(request, deleted - 1);
  return { deleted, kept: 0 };
}

/** Takes what was said under all of these ids out of everybody's memories, as often as there is more. */
async function withdraw(ask: Ask, request: FastifyRequest, ids: GivenIds): Promise<Deletion> {
  if (Object.values(ids).includes(EVERYBODY)) {
    throw unsupported('"*" together with another id in a deletion', 'list the ids');
  }
  let done = NOTHING;
  for (let more = true; more; ) {
    const path = `${UNDER}${queryText(ids)}`;
    const { deleted, kept, more: left } = await ask<WithdrawnView>(request, { method: 'DELETE', path });
    countMore(request, deleted + kept);
    done = sumOf(done, { deleted, kept });
    if (left && deleted + kept === 0)
      throw problem('conflict', 'other requests keep changing these memories; repeat the request');
    more = left;
  }
  return done;
}

const NamedEntity = z.strictObject({ type: z.string(), id: z.string() });
const ENTITIES_PATH = '/mem0/v1/entities/';

/** Users, agents, runs and apps: who has memories, or under what they were said, and everything of one gone. */
export function entities(app: App, ask: Ask): void {
  app.get('/v1/entities', { schema: { querystring: z.looseObject(PageFields) } }, async (request) => {
    const { page, page_size: size } = request.query;
    return mem0Page(await entitiesOf(ask, request), { page, size, path: ENTITIES_PATH });
  });
  for (const path of ['/v1/entities/:type/:id', '/v2/entities/:type/:id']) {
    app.delete(path, { schema: { params: NamedEntity } }, async (request) => {
      const { type, id } = request.params;
      if (!ENTITIES.has(type)) throw notFound('kind of entity', type);
      // Takes effect at once; rows are deleted in the background.
      if (type !== 'app') await ask(request, { method: 'DELETE', path: `/v1/${type}s/${encodeURIComponent(id)}` });
      const done = type === 'user' ? NOTHING : await withdraw(ask, request, { [`${type}_id`]: id });
      return { message: `Entity deleted successfully!${ofOthers(type, done)}` };
    });
  }
}

const ENTITIES = new Set(['user', 'agent', 'run', 'app']);

/** Owners, and under what else memories were said. What an agent or run owns was said under it. */
async function entitiesOf(ask: Ask, request: FastifyRequest) {
  const owners = await everything<UserView>(ask, request, { path: '/v1/users' });
  const used = await everything<UsedIdView>(ask, request, { path: '/v1/ids' });
  const byName = new Map(owners.map((owner) => [`${owner.kind} ${owner.id}`, mem0Entity(owner)]));
  for (const { first_said_at: created_at, last_said_at: updated_at, ...one } of used) {
    const name = `${one.kind} ${one.id}`;
    const entity = byName.get(name) ?? mem0Entity({ ...one, created_at, updated_at });
    byName.set(name, { ...entity, total_memories: Math.max(entity.total_memories, one.memories) });
  }
  return [...byName.values()];
}

const ofOthers = (type: string, { deleted, kept }: Deletion): string =>
  deleted + kept === 0
    ? ''
    : ` Of the users’ memories from this ${type}, ${deleted} were deleted and ${kept} were kept because they were also said elsewhere.`;

/** Everybody is erased, as if one by one: whoever asks again goes on where it stopped. */
export function resetTenant(app: App, ask: Ask, isAllowed: boolean): void {
  app.post('/reset', async (request) => {
    if (!isAllowed)
      throw problem('not_configured', 'reset is off; the operator turns it on with SLOWWAVE_MEM0_RESET=true');
    let erased = 0;
    for (let left = true; left; ) {
      const { results } = await pageOf<UserView>(ask, request, { path: '/v1/users', cursor: undefined });
      for (const { kind, id } of results) {
        await ask(request, { method: 'DELETE', path: `/v1/${kind}s/${encodeURIComponent(id)}` });
      }
      countMore(request, results.length);
      erased += results.length;
      left = results.length > 0;
    }
    return { message: `All memories are reset: ${erased} users, agents and runs are erased` };
  });
}

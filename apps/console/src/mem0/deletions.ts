import type { DeletedMemoriesView, UsedIdView, UserView, WithdrawnView } from '@slowwave/contracts';
import { type App, countMore, type FastifyRequest, notFound, problem } from '@slowwave/http';
import { z } from 'zod';
import { type Ask, everything, pageOf, unsupported } from './ask.ts';
import { idsIn, type Json, PageFields, queryText, sent } from './fields.ts';
import { EVERYBODY, hasOwner, IDS, LISTED_MAX, meansOthers, OWNERS, ownersIn, UNDER } from './owners.ts';
import { mem0Entity, mem0Page } from './views.ts';

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
  readonly ids: Ids;
}

/** Whose memories ids mean. "*" for each of the four is mem0's word for all that there is. */
async function deletedOwners(ask: Ask, request: FastifyRequest, ids: Ids): Promise<readonly Deleted[]> {
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

type Ids = Readonly<Record<string, string>>;

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
  readonly scope: Ids;
  readonly filters: Json | null;
}

async function deleteOwned(ask: Ask, request: FastifyRequest, { scope, filters }: Owned): Promise<Deletion> {
  const path = `/v1/memories${queryText({ ...scope, ...(filters && { filters: JSON.stringify(filters) }) })}`;
  const { deleted } = await ask<DeletedMemoriesView>(request, { method: 'DELETE', path });
  countMore(request, deleted - 1);
  return { deleted, kept: 0 };
}

/** Takes what was said under all of these ids out of everybody's memories, as often as there is more. */
async function withdraw(ask: Ask, request: FastifyRequest, ids: Ids): Promise<Deletion> {
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

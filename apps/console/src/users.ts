import { Readable } from 'node:stream';
import {
  ColdOwnerList,
  CooledView,
  ErasureAccepted,
  ErasureList,
  ErasureView,
  ExportLine,
  ListColdQuery,
  OwnerParams,
  PostCold,
  PostWaking,
  ProfileLineParams,
  ProfileSlotParams,
  ProfileView,
  PutProfileLine,
  SweptView,
  WokenView,
} from '@slowwave/contracts';
import {
  type Erasure,
  exportOf,
  type FilledSlot,
  isoOf,
  isoOrNull,
  type LineResult,
  type Owner,
  type ProfileFact,
  putLine,
  readProfile,
  requestErasure,
  type Segment,
  type TenantId,
  takeLine,
} from '@slowwave/engine';
import { type FastifyReply, IdParams, notFound, problem, requireJustCome } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { textKept } from './memories.ts';
import { refusePaused } from './subjects.ts';

const route = routesOf('manage');
const profileRoute = routesOf('profile');

/** More erasures than are ever in progress at once, of all tenants. */
const OPEN_MAX = 1_000;

/** Every kind of owner can be erased. Apps are no owners. */
const erase = (kind: Owner['kind'], about: string) =>
  route(`DELETE /v1/${kind}s/:id`, {
    id: `erase${kind[0]?.toUpperCase()}${kind.slice(1)}`,
    summary: `Erase ${kind === 'agent' ? 'an' : 'a'} ${kind}`,
    description:
      `${about}: batches, messages, plans, memories, their history, and the owner’s own id. Later posts for the same ` +
      'id start afresh. A link or a session for one user must have been opened in the last 15 ' +
      'minutes. The erasure runs in the background; poll its status. Repeating the request while it ' +
      'runs returns the same erasure.',
    params: OwnerParams,
    answer: { 202: ErasureAccepted },
    asleep: 'stay',
    bounds: { by: kind, apps: false },
    ...(kind === 'user' && { subject: true as const }),
    handle: async (deps, { tenant, params, request, reply }) => {
      requireJustCome(request, deps.tools.now());
      const { id, state } = await requestErasure(deps, tenant, { kind, id: params.id });
      const status_url = `/v1/erasures/${id}`;
      reply.header('location', status_url);
      return { erasure_id: id, state, status_url };
    },
  });

/** Erasing owners, exporting a user, and what people change of a profile. */
export const userRoutes = [
  erase(
    'user',
    'Permanently erases everything a user said and everything derived from it, including batches and memories ' +
      'that also name an agent or run',
  ),
  erase(
    'agent',
    'Permanently erases everything posted for an agent without a user, and everything derived from it. Batches and ' +
      'memories of a user that name the agent belong to the user and stay unchanged, including the agent_id. Erased',
  ),
  erase(
    'run',
    'Permanently erases everything posted for a run without a user or agent, and everything derived from it. ' +
      'Batches and memories of a user or agent that name the run belong to them and stay unchanged, including the ' +
      'run_id. Erased',
  ),
  route('GET /v1/erasures', {
    id: 'listErasures',
    summary: 'List erasures in progress, oldest first',
    answer: ErasureList,
    handle: async ({ ledger }, { tenant }) => {
      const open = await ledger.erasures.open(OPEN_MAX);
      return { results: open.filter((erasure) => erasure.tenant === tenant && !erasure.departed).map(erasureView) };
    },
  }),
  route('GET /v1/erasures/:id', {
    id: 'getErasure',
    summary: 'Get the progress of an erasure',
    params: IdParams,
    answer: ErasureView,
    handle: async ({ ledger }, { tenant, params }) => {
      const { id } = params;
      const erasure = await ledger.erasures.get(tenant, id);
      if (erasure === null) throw notFound('erasure', id);
      return erasureView(erasure);
    },
  }),
  route('GET /v1/users/:id/export', {
    id: 'exportUser',
    summary: 'Export all data of a user',
    description:
      'Returns one JSON object per line (application/x-ndjson), streamed: the user, batches, messages, memories with ' +
      'all versions, events, consolidations with plans and raw answers, reviews, summaries, task states, ' +
      'the lines of the profile, and the graph (entities, relations, statements). The last line has the type "end" and the ' +
      'number of objects of each type; an export without it is incomplete.',
    params: OwnerParams,
    answer: {
      200: { description: 'The export', content: { 'application/x-ndjson': { schema: ExportLine } } },
    },
    bounds: { by: 'user', apps: false },
    subject: true,
    audited: true,
    handle: async ({ ledger, tools, log }, { tenant, params, reply }) => {
      const userId = params.id;
      const lane = await ledger.lanes.find(tenant, { kind: 'user', id: userId });
      if (lane === null) throw notFound('user', userId);
      const stream = Readable.from(linesOf(exportOf({ ledger, tools }, { tenant, userId, lane: lane.id })));
      stream.on('error', (err) => log.warn({ err }, 'export aborted'));
      return reply.type('application/x-ndjson').send(stream);
    },
  }),
  profileRoute('PUT /v1/users/:id/profile/:slot', {
    id: 'putProfileLine',
    summary: 'Put a line into a slot of a user’s profile',
    description:
      'The line is a memory of the user: an existing one, or a new one with this text. It is pinned and listed before the ' +
      'lines that nights find, and nights do not change it. In a slot with one line, a new text corrects the line that a person put ' +
      'there before. 202: stored, searchable once the index is available again.',
    params: ProfileSlotParams,
    body: PutProfileLine,
    answer: { 200: ProfileView, 202: ProfileView },
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params: { id: userId, slot }, body, reply }) => {
      const { memory, memory_id: memoryId = '' } = body;
      await refusePaused(deps, tenant, { userId, agentId: null, runId: null, appId: null });
      const line = memory === undefined ? { memoryId } : { text: await textKept(deps.ledger, tenant, memory) };
      settled(await putLine(deps, { tenant, userId }, { slot, line }), { slot, memoryId, reply });
      return shown(deps, { tenant, userId });
    },
  }),
  profileRoute('DELETE /v1/users/:id/profile/:slot/:memory', {
    id: 'deleteProfileLine',
    summary: 'Take a line out of a user’s profile',
    description: 'The memory stays, and nights do not put it back. To forget it, delete the memory.',
    params: ProfileLineParams,
    answer: { 200: ProfileView, 202: ProfileView },
    bounds: { by: 'user', apps: false },
    subject: true,
    handle: async (deps, { tenant, params: { id: userId, slot, memory: memoryId }, reply }) => {
      settled(await takeLine(deps, { tenant, userId }, { slot, memoryId }), { slot, memoryId, reply });
      return shown(deps, { tenant, userId });
    },
  }),
];

const erasureView = ({ id, state, counts, remains, requestedAt, erasedAt }: Erasure): ErasureView => ({
  id,
  state,
  counts: { ...counts },
  remains: [...remains],
  requested_at: isoOf(requestedAt),
  erased_at: isoOrNull(erasedAt),
});

async function* linesOf(parts: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`;
}

/** What a profile says of a user. */
export const getProfile = profileRoute('GET /v1/users/:id/profile', {
  id: 'getProfile',
  summary: 'Get the profile of a user',
  description: 'The slots are those of the setting profile_slots, and other. Each line names the memory it comes from.',
  params: OwnerParams,
  answer: ProfileView,
  bounds: { by: 'user', apps: false },
  subject: true,
  asleep: 'read',
  handle: (deps, { tenant, params }) => shown(deps, { tenant, userId: params.id }),
});

interface Whose {
  readonly tenant: TenantId;
  readonly userId: string;
}

async function shown(deps: Pick<ConsoleDeps, 'ledger' | 'tools'>, whose: Whose): Promise<ProfileView> {
  const filled = await readProfile(deps, whose);
  return { user_id: whose.userId, slots: filled.map(slotView) };
}

const slotView = ({ slot, lines, leftOut }: FilledSlot<ProfileFact>): ProfileView['slots'][number] => ({
  name: slot.name,
  about: slot.about,
  lines: lines.map(({ fact, by }) => ({
    memory_id: fact.memoryId,
    version: fact.version,
    memory: fact.text,
    by,
    said_at: isoOf(fact.saidAt.at),
    valid_from: isoOf(fact.validFrom),
  })),
  left_out: leftOut,
});

interface Asked {
  readonly slot: string;
  readonly memoryId: string;
  readonly reply: FastifyReply;
}

function settled(result: LineResult, { slot, memoryId, reply }: Asked): void {
  switch (result.kind) {
    case 'written':
    case 'words':
      return;
    case 'unprojected':
      reply.code(202);
      return;
    case 'no_slot':
      throw problem(
        'not_found',
        `expected one of the slots ${result.names.join(', ')}, got ${slot}; see profile_slots in /v1/settings`,
      );
    case 'full':
      throw problem(
        'conflict',
        `people have filled the slot ${slot}, which has ${result.lines} lines; take one out first, or allow more in profile_slots`,
      );
    case 'immutable':
      throw problem(
        'immutable_memory',
        `the line of the slot ${slot} is immutable; set "immutable": false on its memory first`,
      );
    case 'not_found':
      throw notFound('memory in this profile', memoryId);
    default:
      throw problem('conflict', 'another request changed this memory at the same time; retry');
  }
}

const coldRoute = routesOf('cold');

/** Owners that sleep in segments outside the ledger. */
export const coldRoutes = [
  coldRoute('GET /v1/cold', {
    id: 'listCold',
    summary: 'List the sleeping owners of a tenant',
    query: ListColdQuery,
    answer: ColdOwnerList,
    asleep: 'stay',
    handle: async (deps, { query: { tenant, limit, cursor } }) => {
      const found = await coldOf(deps).list(tenant as TenantId, cursor ?? null, limit);
      return {
        results: found.map(coldView),
        next_cursor: found.length < limit ? null : (found.at(-1)?.name ?? null),
      };
    },
  }),
  coldRoute('POST /v1/cold/cool', {
    id: 'coolOwner',
    summary: 'Put an owner to sleep now',
    description:
      'All its data is written to a segment and verified before it is removed from the ledger. Searches, contexts and the profile are ' +
      'answered from the segment; any other request for the owner wakes it.',
    body: PostCold,
    answer: CooledView,
    asleep: 'stay',
    handle: async (deps, { body: { tenant, kind, id } }) => {
      const state = await coldOf(deps).cool(tenant as TenantId, { kind, id });
      if (state === null) throw notFound(kind, id);
      return { state: state === 'kept' ? ('kept' as const) : ('asleep' as const) };
    },
  }),
  coldRoute('POST /v1/cold/wake', {
    id: 'wakeOwner',
    summary: 'Wake an owner',
    description: 'Its data is back in the ledger and the index when the response is sent.',
    body: PostWaking,
    answer: WokenView,
    asleep: 'stay',
    handle: async (deps, { body: { tenant, kind, id } }) => ({
      woken: await coldOf(deps).wakeOwner(tenant as TenantId, { kind, id }),
    }),
  }),
  coldRoute('POST /v1/cold/sweep', {
    id: 'sweepSegments',
    summary: 'Delete segments that are unknown to this ledger',
    description:
      'Such segments remain after an older backup of the ledger was restored. Segments of another installation in the same place would be ' +
      'deleted, too.',
    answer: SweptView,
    asleep: 'stay',
    handle: async (deps) => ({ deleted: [...(await coldOf(deps).deleteUnknown())] }),
  }),
];

function coldOf({ cold }: ConsoleDeps): NonNullable<ConsoleDeps['cold']> {
  if (cold !== null) return cold;
  throw problem(
    'not_configured',
    'sleeping owners are not enabled; set SLOWWAVE_COLD_DAYS (0: only owners that you name)',
  );
}

const coldView = ({ owner, name, state, since, memories, bytes }: Segment) => ({
  ...owner,
  ...{ segment: name, since: isoOf(since), memories, bytes },
  state: state === 'cooling' || state === 'waking' ? state : ('cold' as const),
});

import {
  EndTask,
  OwnerParams,
  PatchTaskState,
  PutTaskState,
  TaskDocument,
  TaskHistoryQuery,
  TaskListQuery,
  TaskQuery,
  TaskStateList,
  TaskStateView,
} from '@slowwave/contracts';
import {
  canonical,
  type TaskDocument as Document,
  isoOf,
  isoOrNull,
  type JsonObject,
  maskedTask,
  type Owner,
  ownerOf,
  patchedTask,
  scopeOf,
  type TaskState,
  type TenantId,
  waitingForApproval,
} from '@slowwave/engine';
import { KeyHeader, listed, notFound, type ProblemError, pageOf, problem } from '@slowwave/http';
import { z } from 'zod';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('runs');

/** "3", as the header etag of an answer has it. */
const WriteHeaders = KeyHeader.extend({
  'if-match': z
    .string()
    .regex(/^"?\d{1,15}"?$/, 'expected a version like "3"')
    .optional(),
});

const ABOUT_OWNER =
  'The run belongs to the first of user_id and agent_id that is set, otherwise to itself, like batches posted for it.';

/** What programs read of their runs. */
export const taskReads = [
  route('GET /v1/runs', {
    id: 'listTaskStates',
    summary: 'List the runs of an owner that have a state, last changed first',
    query: TaskListQuery,
    answer: TaskStateList,
    bounds: { by: 'query', apps: true },
    handle: async ({ ledger }, { tenant, query }) => {
      const lane = await ledger.lanes.find(tenant, ownerOf(scopeOf(query)));
      if (lane === null) return { results: [], next_cursor: null };
      const filter = { lane: lane.id, ...(query.ended !== undefined && { ended: query.ended }) };
      const page = await ledger.taskStates.list(tenant, filter, pageOf(query));
      return listed({ ...page, results: page.results.filter((state) => isOfApp(state, query)) }, viewOf);
    },
  }),
  route('GET /v1/runs/:id/state', {
    id: 'getTaskState',
    summary: 'Get the state of a run',
    description: `${ABOUT_OWNER} The header etag contains the version, which a later write sends back as if-match.`,
    params: OwnerParams,
    query: TaskQuery,
    answer: TaskStateView,
    bounds: { by: 'query', apps: true },
    handle: async ({ ledger }, { tenant, params: { id }, query, reply }) => {
      const lane = await ledger.lanes.find(tenant, ownerOfRun(id, query));
      const state = lane === null ? null : await ledger.taskStates.get({ tenant, lane: lane.id, runId: id });
      if (state === null || !isOfApp(state, query)) throw notFound('run with a state', id);
      reply.header('etag', `"${state.version}"`);
      return viewOf(state);
    },
  }),
  route('GET /v1/runs/:id/state/history', {
    id: 'getTaskStateHistory',
    summary: 'List the versions of a run’s state, newest first',
    description: 'The newest 200 versions of a run are kept.',
    params: OwnerParams,
    query: TaskHistoryQuery,
    answer: TaskStateList,
    bounds: { by: 'query', apps: true },
    handle: async ({ ledger }, { tenant, params: { id }, query }) => {
      const lane = await ledger.lanes.find(tenant, ownerOfRun(id, query));
      if (lane === null) throw notFound('run with a state', id);
      const page = await ledger.taskStates.history({ tenant, lane: lane.id, runId: id }, pageOf(query));
      if (page.results.some((state) => !isOfApp(state, query))) throw notFound('run with a state', id);
      return listed(page, viewOf);
    },
  }),
];

/** What programs write of their runs. */
export const taskWrites = [
  route('PUT /v1/runs/:id/state', {
    id: 'putTaskState',
    summary: 'Replace the state of a run',
    description:
      `${ABOUT_OWNER} Without a version, the request can only start a run. With a version, it replaces that version and is refused with 409 if ` +
      'the run has a newer one, so nobody overwrites a state they have not read. Secrets are masked.',
    params: OwnerParams,
    query: TaskQuery,
    headers: WriteHeaders,
    body: PutTaskState,
    answer: TaskStateView,
    bounds: { by: 'query', apps: true },
    audited: true,
    handle: (deps, asked) => {
      const { version: _, ...document } = asked.body;
      return write(deps, asked, { does: 'put', make: () => document });
    },
  }),
  route('PATCH /v1/runs/:id/state', {
    id: 'patchTaskState',
    summary: 'Change parts of the state of a run',
    description:
      `${ABOUT_OWNER} Omitted parts stay unchanged. Without a version, the change is applied to the current state, so ` +
      'that two programs can change different steps at once. With a version, it is refused with 409 if the run has a newer one.',
    params: OwnerParams,
    query: TaskQuery,
    headers: WriteHeaders,
    body: PatchTaskState,
    answer: TaskStateView,
    bounds: { by: 'query', apps: true },
    audited: true,
    handle: (deps, asked) => {
      const { version: _, ...patch } = asked.body;
      const make = (before: Document | null) => before && patchedTask(before, patch);
      return write(deps, asked, { does: 'patch', make });
    },
  }),
  route('POST /v1/runs/:id/end', {
    id: 'endTask',
    summary: 'Mark a run as ended',
    description: `${ABOUT_OWNER} Its state stays readable and can no longer be changed. Ending it again changes nothing.`,
    params: OwnerParams,
    query: TaskQuery,
    headers: WriteHeaders,
    body: EndTask,
    answer: TaskStateView,
    bounds: { by: 'query', apps: true },
    audited: true,
    handle: (deps, asked) => write(deps, asked, { does: 'end', make: (before) => before }),
  }),
];

type RunQuery = z.output<typeof TaskQuery>;

const ownerOfRun = (id: string, { user_id, agent_id }: RunQuery): Owner =>
  ownerOf(scopeOf({ user_id, agent_id, run_id: id }));

/** What an app began is that app's: a key for another one does not find it. */
const isOfApp = ({ appId }: TaskState, { app_id }: Pick<RunQuery, 'app_id'>): boolean =>
  app_id === undefined || app_id === appId;

function versionIn(header: string | undefined, body: number | undefined): number | null {
  const matched = header === undefined ? undefined : Number(header.replaceAll('"', ''));
  if (matched !== undefined && body !== undefined && matched !== body)
    throw problem('invalid_request', 'the header if-match and the field version differ; send only one of them');
  return matched ?? body ?? null;
}

/** What a request says of the write beside the change itself. */
interface Asked {
  readonly tenant: TenantId;
  readonly params: { readonly id: string };
  readonly query: RunQuery;
  readonly headers: z.output<typeof WriteHeaders>;
  readonly body: { readonly version?: number | undefined };
  readonly reply: { header(name: string, value: string): unknown };
}

interface Change {
  /** Is part of what an idempotency key stands for. */
  readonly does: 'put' | 'patch' | 'end';
  /** The document as it shall be; null: there is nothing to make it of. */
  readonly make: (before: Document | null) => Document | JsonObject | null;
}

/** Others may write between reading and writing; after this many times the caller gets a conflict. */
const TRIES_MAX = 10;

async function write(deps: ConsoleDeps, asked: Asked, change: Change): Promise<TaskStateView> {
  const { query, headers, body, reply } = asked;
  // A state that is put without a version is the first one.
  const expected = versionIn(headers['if-match'], body.version) ?? (change.does === 'put' ? 0 : null);
  const attempt = await attemptsOf(deps, asked, change);
  for (let tries = 0; ; tries += 1) {
    const written = await attempt(expected);
    if (written.kind === 'conflict' && expected === null && tries < TRIES_MAX) continue;
    if (written.kind !== 'written' && !(written.kind === 'ended' && change.does === 'end'))
      throw refusalOf(written, asked.params.id);
    if (!isOfApp(written.state, query)) throw notFound('run with a state', asked.params.id);
    reply.header('etag', `"${written.state.version}"`);
    return viewOf(written.state);
  }
}

/** One try: what stands is read, changed and written in its place. */
async function attemptsOf(
  { ledger, tools }: ConsoleDeps,
  { tenant, params, query, headers, body }: Asked,
  { does, make }: Change,
) {
  const runId = params.id;
  const { personalData } = await ledger.settings.get(tenant);
  const now = tools.now();
  const owner = ownerOfRun(runId, query);
  const sent = headers['idempotency-key'];
  const key = sent === undefined ? null : { key: sent, bodyHash: tools.hash(canonical({ does, ...body })) };
  return async (expected: number | null) => {
    const lane = await ledger.lanes.find(tenant, owner);
    const before = lane && (await ledger.taskStates.get({ tenant, lane: lane.id, runId }));
    const known = before !== null && isOfApp(before, query) ? before : null;
    const made = before !== null && known === null ? null : make(known && (known.document as Document));
    if (made === null) throw notFound('run with a state', runId);
    const document = maskedTask(whole(made), personalData);
    // What is refused leaves no owner behind.
    const place = { tenant, lane: lane?.id ?? (await ledger.memories.laneOf(tenant, owner, now)), runId };
    const appId = query.app_id ?? null;
    const version = expected ?? before?.version ?? 0;
    return ledger.taskStates.write({ ...place, appId, expected: version, document, ends: does === 'end', key, now });
  };
}

/** A document after a change has the limits of one that is sent. */
function whole(document: Document | JsonObject): Document {
  const parsed = TaskDocument.safeParse(document);
  if (parsed.success) return parsed.data as Document;
  const errors = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = errors;
  const mistake = first === undefined || first.path === '' ? first?.message : `${first.path}: ${first.message}`;
  throw problem('invalid_request', `the state would not be valid after this change: ${mistake}`, { errors });
}

type Refused = Exclude<Awaited<ReturnType<ConsoleDeps['ledger']['taskStates']['write']>>, { kind: 'written' }>;

function refusalOf(refused: Refused, runId: string): ProblemError {
  switch (refused.kind) {
    case 'ended':
      return problem('conflict', `run ${runId} has ended, so its state can no longer be changed; start another run`);
    case 'key_used':
      return problem(
        'idempotency_conflict',
        'the idempotency key was already used for another change of this run; send the original request, or use a new key',
      );
    case 'erased':
      return problem('conflict', 'the owner of this run is being erased; retry when the erasure is done');
    case 'conflict': {
      const currentVersion = refused.state?.version ?? 0;
      const stands = currentVersion === 0 ? 'it has no state yet' : `its state is at version ${currentVersion}`;
      return problem('version_conflict', `${stands}; read it and retry with that version`, {
        currentVersion,
      });
    }
  }
}

function viewOf(state: TaskState): TaskStateView {
  const { goal = null, steps = [], data = {} } = state.document as Document;
  const { owner } = state;
  return {
    run_id: state.runId,
    user_id: owner.kind === 'user' ? owner.id : null,
    agent_id: owner.kind === 'agent' ? owner.id : null,
    app_id: state.appId,
    version: state.version,
    goal,
    steps: steps.map(({ id, title, state: standing, result = null, needs_approval = false }) => ({
      ...{ id, title, state: standing, result, needs_approval },
    })),
    waiting_for_approval: waitingForApproval(state.document),
    data: { ...data },
    created_at: isoOf(state.createdAt),
    updated_at: isoOf(state.writtenAt),
    ended_at: isoOrNull(state.endedAt),
  };
}

import {
  CanaryList,
  CanaryRehearsal,
  type CanarySummary,
  CanaryView,
  ListCanariesQuery,
  PostCanary,
  PostCanaryPromotion,
  PostCanaryUndo,
} from '@slowwave/contracts';
import {
  addSpent,
  CANARY_STEPS,
  type Canary,
  type CanaryLane,
  type ConfiguredChange,
  estimateUndo,
  FIGURE_NAMES,
  FIGURES,
  failureView,
  isoOf,
  isoOrNull,
  type JsonObject,
  NO_BUDGET,
  NOTHING_SPENT,
  promoteCanary,
  type Spent,
  slicesOf,
  startCanary,
  stopCanary,
  type TenantId,
  undoCanary,
  type WatchedFigure,
  watchedFrom,
} from '@slowwave/engine';
import { concerns, IdParams, listed, notFound, pageOf, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { changesIn, namedBy } from './replays.ts';
import { refuseModels } from './settings.ts';

const route = routesOf('manage');
const SECOND_MS = 1_000;

/** Changes that are rolled out to a share of the owners, watched, and taken back if they make memory worse. */
export const canaryRoutes = [
  route('POST /v1/canaries', {
    id: 'postCanary',
    summary: 'Roll out a change to a growing share of the owners',
    description:
      'New consolidations of the owners in the share use the changes; these owners stay included as the share grows. ' +
      'Their figures are continuously compared with those of the other owners. If a figure exceeds its margin, the canary halts ' +
      'automatically, and its consolidations are undone and repeated without the changes. After the last step the ' +
      'changes become the settings of the tenant. A tenant has one canary at a time.',
    body: PostCanary,
    answer: { 201: CanaryView },
    handle: async (deps, { tenant, body, request, reply }) => {
      const changes = changesIn(body.changes);
      if (Object.keys(changes).length === 0) throw noChange();
      refuseModels(deps, request, namedBy(changes));
      refuseUnknownFigures(body.bounds);
      const steps = body.steps?.map(({ share, min_seconds, min_consolidations }) => ({
        ...{ share, minMs: min_seconds * SECOND_MS, minConsolidations: min_consolidations },
      }));
      const canary = await startCanary(deps, {
        ...{ tenant, changes, bounds: body.bounds, undo: body.undo, budget: body.budget ?? NO_BUDGET },
        steps: steps ?? CANARY_STEPS,
      });
      if (canary === null) throw anotherOne();
      concerns(request, { kind: 'canary', id: canary.id });
      reply.code(201).header('location', `/v1/canaries/${canary.id}`);
      return canaryView(deps, canary);
    },
  }),
  route('GET /v1/canaries', {
    id: 'listCanaries',
    summary: 'List canaries, newest first',
    query: ListCanariesQuery,
    answer: CanaryList,
    handle: async ({ ledger }, { tenant, query }) =>
      listed(await ledger.canaries.list(tenant, pageOf(query)), canarySummary),
  }),
  route('GET /v1/canaries/:id', {
    id: 'getCanary',
    summary: 'Get a canary with its figures and the progress of its undo',
    params: IdParams,
    answer: CanaryView,
    handle: async (deps, { tenant, params }) => canaryView(deps, await existing(deps, tenant, params.id)),
  }),
  route('POST /v1/canaries/:id/stop', {
    id: 'stopCanary',
    summary: 'Stop a canary and keep what it wrote',
    description: 'Its changes are no longer used. You can still undo it later.',
    params: IdParams,
    answer: CanaryView,
    handle: async (deps, { tenant, params }) =>
      done(deps, params.id, { result: await stopCanary(deps, { tenant, id: params.id }), what: 'stopped' }),
  }),
  route('POST /v1/canaries/:id/promote', {
    id: 'promoteCanary',
    summary: 'Make the changes of a canary the settings of the tenant',
    description:
      'Ends the canary. Instructions, prompts, models and graph become settings. mode, recall_per_fact and near cannot be ' +
      'tenant settings: configure them first, then send already_set.',
    params: IdParams,
    body: PostCanaryPromotion,
    answer: CanaryView,
    handle: async (deps, { tenant, params, body }) => {
      const how = { isSet: body.already_set, runId: body.gate_run ?? null };
      const result = await promoteCanary(deps, { tenant, id: params.id }, how);
      if (result.kind === 'gated')
        throw problem('gate_not_passed', `canary ${params.id} was not promoted: ${result.why}`);
      if (result.kind === 'to_set') throw toSet(params.id, result.changes);
      return done(deps, params.id, { result, what: 'promoted' });
    },
  }),
  route('POST /v1/canaries/:id/undo', {
    id: 'undoCanary',
    summary: 'Undo what a canary wrote and consolidate it again without the changes',
    description:
      'For each owner, everything since the first consolidation with the changes is undone, newest first, and the ' +
      'same batches are consolidated again in their original order. Explicit writes and approvals stay. New messages of ' +
      'these owners wait until then. If the undo waits for its budget, repeat the request with a larger one.',
    params: IdParams,
    body: PostCanaryUndo,
    answer: { 200: CanaryRehearsal, 202: CanaryView },
    handle: async (deps, { tenant, params, body, reply }) => {
      const { id } = params;
      if (body.dry_run) {
        const { expected, ...counts } = await estimateUndo(deps.ledger, await existing(deps, tenant, id));
        return { dry_run: true as const, ...counts, expected: { ...expected } };
      }
      const result = await undoCanary(deps, { tenant, id }, body.budget ?? null);
      reply.code(202);
      return done(deps, id, { result, what: 'undone' });
    },
  }),
];

async function existing({ ledger }: ConsoleDeps, tenant: TenantId, id: string): Promise<Canary> {
  const canary = await ledger.canaries.get(tenant, id);
  if (canary === null) throw notFound('canary', id);
  return canary;
}

interface Ended {
  readonly result: Awaited<ReturnType<typeof stopCanary>>;
  readonly what: string;
}

function done(deps: ConsoleDeps, id: string, { result, what }: Ended): Promise<CanaryView> {
  if (result.kind === 'not_found') throw notFound('canary', id);
  if (result.kind === 'refused')
    throw problem(
      'conflict',
      `canary ${id} is ${result.canary.state} and cannot be ${what} now${whyNot(result.canary)}`,
    );
  return canaryView(deps, result.canary);
}

/** Another one may have begun since. */
const whyNot = ({ state }: Canary): string =>
  state === 'stopped' ? '; if another canary is open, end that one first' : '';

const noChange = () =>
  problem('invalid_request', 'a canary needs at least one change, such as "model" or "instructions"', {
    errors: [{ path: 'changes', message: 'expected at least one change' }],
  });

function refuseUnknownFigures(bounds: PostCanary['bounds']): void {
  const unknown = Object.keys(bounds).filter((name) => !(FIGURE_NAMES as readonly string[]).includes(name));
  if (unknown.length === 0) return;
  throw problem(
    'invalid_request',
    `unknown figures: ${unknown.join(', ')}; the figures are ${FIGURE_NAMES.join(', ')}`,
    {
      errors: unknown.map((name) => ({ path: `bounds.${name}`, message: 'expected the name of a figure' })),
    },
  );
}

const anotherOne = () =>
  problem(
    'conflict',
    'another canary of this tenant is open; stop, promote or undo it first (GET /v1/canaries lists it)',
  );

/** Where each is configured. */
const SET_BY: Readonly<Record<ConfiguredChange, string>> = {
  mode: 'mode in the requests to POST /v1/batches',
  recallPerFact: 'SLOWWAVE_RECALL_PER_FACT',
  near: 'SLOWWAVE_NEAR_VECTOR and the related settings',
};

const toSet = (id: string, changes: readonly ConfiguredChange[]) =>
  problem(
    'conflict',
    `canary ${id} has changes that cannot be tenant settings; configure them first ` +
      `(${changes.map((name) => SET_BY[name]).join('; ')}), then promote with {"already_set": true}`,
  );

const canarySummary = (canary: Canary): CanarySummary => ({
  id: canary.id,
  state: canary.state,
  changes: inWords(canary.changes),
  share: canary.steps[canary.step]?.share ?? 0,
  step: canary.step + 1,
  steps: canary.steps.map(({ share, minMs, minConsolidations }) => ({
    ...{ share, min_seconds: Math.round(minMs / SECOND_MS), min_consolidations: minConsolidations },
  })),
  halt: failureView(canary.halt),
  created_at: isoOf(canary.createdAt),
  finished_at: isoOrNull(canary.finishedAt),
});

async function canaryView({ ledger }: Pick<ConsoleDeps, 'ledger'>, canary: Canary): Promise<CanaryView> {
  const { tenant, id, bounds, undo, budget, waiting, stepAt } = canary;
  const [{ owners, touched }, consolidations, undoing] = await Promise.all([
    ledger.canaries.reach(tenant, id),
    ledger.canaries.appliedSince(id, 0),
    undoingOf({ ledger }, id),
  ]);
  return {
    ...canarySummary(canary),
    step_since: isoOf(stepAt),
    ...{ bounds: { ...bounds }, undo, budget: { ...budget } },
    ...{ owners, owners_touched: touched, consolidations },
    watched: watchedView(canary),
    undoing: undoing === null ? null : { ...undoing, waiting: failureView(waiting) },
  };
}

/** As the request named them. */
function inWords(changes: JsonObject): JsonObject {
  const { decideInstructions, recallPerFact, ...rest } = changes;
  return {
    ...rest,
    ...(decideInstructions !== undefined && { decide_instructions: decideInstructions }),
    ...(recallPerFact !== undefined && { recall_per_fact: recallPerFact }),
  };
}

function watchedView({ watched: stored }: Canary): CanaryView['watched'] {
  const watched = watchedFrom(stored);
  if (watched === null) return null;
  const { beside, consolidations, looks, figures } = watched;
  return { beside, ...consolidations, looks, figures: figures.map(figureView) };
}

const figureView = ({ figure, baseline, variant, difference, margin, verdict }: WatchedFigure) => ({
  figure,
  says: FIGURES[figure].says,
  canary: variant,
  rest: baseline,
  difference: difference === null ? null : { ...difference },
  margin: margin.by,
  relative: margin.relative === true,
  verdict,
});

type Undoing = Omit<NonNullable<CanaryView['undoing']>, 'waiting'>;

/** What is done of the undo, lane by lane. null: there are none. */
async function undoingOf({ ledger }: Pick<ConsoleDeps, 'ledger'>, id: string): Promise<Undoing | null> {
  const read = (last: CanaryLane | null, limit: number) =>
    ledger.canaries.lanes(id, { limit, ...(last !== null && { after: last.lane }) });
  const owners = { held: 0, replayed: 0, done: 0, left: 0 };
  let [consolidations, batches] = [0, 0];
  let [expected, used]: [Spent, Spent] = [NOTHING_SPENT, NOTHING_SPENT];
  for await (const slice of slicesOf(read)) {
    for (const lane of slice) {
      owners[lane.state] += 1;
      consolidations += lane.consolidations;
      batches += lane.batches;
      expected = addSpent(expected, lane.expected);
      used = addSpent(used, lane.used);
    }
  }
  const none = owners.held + owners.replayed + owners.done + owners.left === 0;
  return none ? null : { owners, consolidations, batches, expected: { ...expected }, used: { ...used } };
}

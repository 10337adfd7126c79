import {
  CanaryList,
  CanaryRehearsal,
  CanaryView,
  ListCanariesQuery,
  PostCanary,
  PostCanaryPromotion,
  PostCanaryUndo,
} from '@slowwave/contracts';
import {
  CANARY_STEPS,
  type Canary,
  type ConfiguredChange,
  estimateUndo,
  FIGURE_NAMES,
  NO_BUDGET,
  promoteCanary,
  startCanary,
  stopCanary,
  type TenantId,
  undoCanary,
} from '@slowwave/engine';
import { concerns, IdParams, listed, notFound, pageOf, problem } from '@slowwave/http';
import { canarySummary, canaryView } from './canary-view.ts';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { refuseModels } from './named-models.ts';
import { changesIn, namedBy } from './replays.ts';

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

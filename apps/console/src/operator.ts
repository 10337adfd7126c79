import {
  CeilingsView,
  ExaminationView,
  GetDoctorQuery,
  IndexMoveAnswer,
  type IndexMoveView,
  ModelList,
  type ModelView,
  PatchIndexMove,
  PostIndexMove,
  PutCeilings,
  TenantParams,
} from '@slowwave/contracts';
import { type IndexMove, isoOf, MoveRefusedError, passes, type TenantId } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('manage');
const ceilingsRoute = routesOf('keys');

/** The state of the installation, the daily limits of tenants, and how the index goes over to another embedder. */
export const operatorRoutes = [
  route('GET /v1/doctor', {
    id: 'getDoctor',
    summary: 'Check the installation for problems and how to fix them',
    description: 'Checks the whole installation. Changes nothing and does not interrupt other work.',
    query: GetDoctorQuery,
    answer: ExaminationView,
    audited: false,
    handle: async ({ ledger, examine, models }, { query: { depth }, request }) => {
      const { at, healthy, checks, findings } = await examine({ depth, cancel: request.server.stopping });
      const [known, backup] = await Promise.all([models(), ledger.overview.lastBackup()]);
      const failing = known.flatMap(findingOf);
      return {
        at: isoOf(at),
        depth,
        healthy,
        last_backup: backup && { at: isoOf(backup.at), bytes: backup.bytes },
        checks: [...checks, { check: 'models', looked: known.length, findings: failing.length }],
        findings: [...findings.map((finding) => ({ ...finding, examples: [...finding.examples] })), ...failing],
      };
    },
  }),
  route('GET /v1/models', {
    id: 'listModels',
    summary: 'List the models on servers, their limitations and their health',
    description: 'The chat, image and embedding models that the installation calls over HTTP. Calls none of them.',
    answer: ModelList,
    audited: false,
    handle: async ({ models }) => ({ results: await models() }),
  }),
  ceilingsRoute('GET /v1/tenants/:id/ceilings', {
    id: 'getCeilings',
    summary: "Get a tenant's daily limits",
    params: TenantParams,
    answer: CeilingsView,
    handle: async (deps, { params }) => ceilingsOf(deps, params.id),
  }),
  ceilingsRoute('PUT /v1/tenants/:id/ceilings', {
    id: 'putCeilings',
    summary: "Set a tenant's daily limits",
    description:
      'Overrides the limits for all tenants. The tenant’s own budgets can be lower, but not higher. Once a limit is ' +
      'reached, batches wait for the next day (UTC) and previews are refused.',
    params: TenantParams,
    body: PutCeilings,
    answer: CeilingsView,
    handle: async (deps, { params, body }) => {
      const { tokens_per_day: tokensPerDay, cost_per_day: costPerDay } = body;
      await deps.ledger.settings.putCeilings(params.id as TenantId, { tokensPerDay, costPerDay });
      return ceilingsOf(deps, params.id);
    },
  }),
  ceilingsRoute('DELETE /v1/tenants/:id/ceilings', {
    id: 'deleteCeilings',
    summary: "Reset a tenant's daily limits to those for all tenants",
    params: TenantParams,
    answer: CeilingsView,
    handle: async (deps, { params }) => {
      await deps.ledger.settings.putCeilings(params.id as TenantId, null);
      return ceilingsOf(deps, params.id);
    },
  }),
  route('GET /v1/index/move', {
    id: 'getIndexMove',
    summary: 'Get the progress of the move to another embedding model',
    answer: IndexMoveAnswer,
    audited: false,
    handle: async ({ moves }) => answerOf(await moves.current()),
  }),
  route('POST /v1/index/move', {
    id: 'postIndexMove',
    summary: 'Move the index to the next embedding model',
    description:
      'The new index is filled while the current one stays in use, both are compared with stored questions, and searches switch to the new one if it finds ' +
      'as much. The old one is kept up to date until the move is confirmed. Requires SLOWWAVE_NEXT_EMBEDDING_MODEL in all ' +
      'processes. Affects the whole installation.',
    body: PostIndexMove,
    answer: IndexMoveAnswer,
    handle: ({ moves }, { body: { tokens_per_minute: tokens, margin, auto, dry_run } }) =>
      refusedOr(async () => {
        if (dry_run) return { move: null, estimate: await moves.estimate() };
        return answerOf(await moves.start({ tokensPerMinute: tokens ?? null, margin, auto }));
      }),
  }),
  route('PATCH /v1/index/move', {
    id: 'patchIndexMove',
    summary: 'Switch to the new index or back, or confirm or abandon its move',
    body: PatchIndexMove,
    answer: IndexMoveAnswer,
    handle: ({ moves }, { body }) => refusedOr(async () => answerOf(await changed(moves, body.state, body.force))),
  }),
];

async function ceilingsOf({ ledger, ceilings }: ConsoleDeps, tenant: string): Promise<CeilingsView> {
  const own = await ledger.settings.ceilings(tenant as TenantId);
  const { tokensPerDay, costPerDay } = own ?? ceilings;
  return { tenant, tokens_per_day: tokensPerDay, cost_per_day: costPerDay, own: own !== null };
}

/** What is said about a failing model says what to do. Work waits for it, and nothing is lost: a warning. */
const findingOf = ({ use, model, last_call: last }: ModelView): ExaminationView['findings'] =>
  last?.problem == null
    ? []
    : [
        {
          ...{ check: 'models', severity: 'warning', count: 1, examples: [] },
          what: `the last call of the ${use} model ${model} failed (${last.problem.code}); work that needs it waits, unless the model has a fallback`,
          remedy: last.problem.message,
        },
      ];

function changed(moves: ConsoleDeps['moves'], state: PatchIndexMove['state'], force: boolean): Promise<IndexMove> {
  if (state === 'switched') return moves.switch({ force });
  if (state === 'ready') return moves.back();
  return state === 'confirmed' ? moves.confirm() : moves.abandon();
}

async function refusedOr<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MoveRefusedError) throw problem('conflict', error.message);
    throw error;
  }
}

const answerOf = (move: IndexMove | null): IndexMoveAnswer => ({ move: move && viewOf(move), estimate: null });

function viewOf(move: IndexMove): IndexMoveView {
  const { state, from, to, startedAt, since, tokensPerMinute, margin, auto, estimate, note } = move;
  const { behind, comparison, problem: failed, cleaned } = move;
  return {
    ...{ state, from, to, started_at: isoOf(startedAt), since: isoOf(since) },
    ...{ tokens_per_minute: tokensPerMinute, margin, auto, estimate, points: note.points },
    behind: behind.from.length + behind.to.length,
    comparison: comparison && { ...comparison, at: isoOf(comparison.at), passed: passes(move) },
    ...{ problem: failed, cleaned },
  };
}

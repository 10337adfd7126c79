import {
  type ActView,
  ListNightsQuery,
  NightList,
  type NightSummary,
  NightView,
  OwnerParams,
  PostNight,
  UndoReport,
} from '@slowwave/contracts';
import { type Act, isoOf, isoOrNull, type NightRecord, type NightResult, type Plan, toldAct } from '@slowwave/engine';
import { given, IdParams, listed, mayKnow, notFound, pageOf, problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';
import { takenBack } from './undos.ts';

const route = routesOf('manage');

/** What is done with memories while their owner is away. A night is undone and redone as the consolidation it is. */
export const nightRoutes = [
  route('GET /v1/nights', {
    id: 'listNights',
    summary: 'List nights, newest first',
    description: 'Nights without changes, refused proposals or model calls are not listed.',
    query: ListNightsQuery,
    answer: NightList,
    bounds: { by: 'query', apps: false },
    handle: async ({ ledger }, { tenant, query }) => {
      const filter = given({ state: query.state, userId: query.user_id });
      return listed(await ledger.nights.list(tenant, filter, pageOf(query)), summaryView);
    },
  }),
  route('GET /v1/nights/:id', {
    id: 'getNight',
    summary: 'Get the changes of a night, made or proposed, with their reasons',
    description: 'To undo it, use POST /v1/consolidations/{id}/undo with the same id.',
    params: IdParams,
    answer: NightView,
    bounds: { by: 'found', apps: false },
    handle: async ({ ledger }, { tenant, params, request }) => {
      const night = await ledger.nights.get(tenant, params.id);
      if (night === null || !mayKnow(request, night.scope)) throw notFound('night', params.id);
      return view({ ledger }, night);
    },
  }),
  route('POST /v1/nights/:id', {
    id: 'decideNight',
    summary: 'Apply or discard a night that waits',
    description:
      'If its memories have changed in the meantime, nothing is changed: the state becomes stale, and the next night ' +
      'considers them again. 202: done, searchable once the index is available again.',
    params: IdParams,
    body: PostNight,
    answer: { 200: NightView, 202: NightView },
    handle: async ({ ledger, nightSettler }, { tenant, params, body, reply }) => {
      const decide = body.decision === 'apply' ? nightSettler.apply : nightSettler.discard;
      const { night, searchable } = settled(await decide(tenant, params.id), params.id);
      if (!searchable) reply.code(202);
      return view({ ledger }, night);
    },
  }),
  route('GET /v1/users/:id/without-nights', {
    id: 'getWithoutNights',
    summary: 'Show the memories of a user as if there had been no nights',
    description:
      'Compares the memories with their state without any of the applied nights: memories that a night merged, rephrased, ended or ' +
      'concluded are shown as they were said. Later statements count as they do now. Nothing is changed, and no model is called.',
    params: OwnerParams,
    answer: UndoReport,
    bounds: { by: 'user', apps: false },
    handle: async ({ nightSettler }, { tenant, params, reply }) => {
      const owner = { kind: 'user', id: params.id } as const;
      return takenBack(await nightSettler.without(tenant, owner), { ...owner, reply });
    },
  }),
];

function settled(result: NightResult, id: string): Extract<NightResult, { kind: 'settled' }> {
  switch (result.kind) {
    case 'settled':
      return result;
    case 'not_found':
      throw notFound('night', id);
    case 'over':
      throw problem('conflict', `night ${id} is ${result.state}; only one that is waiting can be decided`);
  }
}

async function view({ ledger }: Pick<ConsoleDeps, 'ledger'>, night: NightRecord): Promise<NightView> {
  const plan = await ledger.thoughts.plan(night.id);
  return { ...summaryView(night), plan: plan === null ? null : planView(plan) };
}

const summaryView = (night: NightRecord): NightSummary => ({
  id: night.id,
  user_id: night.scope.userId,
  agent_id: night.scope.agentId,
  run_id: night.scope.runId,
  state: night.undone ? 'undone' : night.state,
  why: night.why,
  acts: night.operations,
  memories: night.memories,
  failure: night.failure === null ? null : { ...night.failure, at: isoOf(night.failure.at) },
  created_at: isoOf(night.createdAt),
  ended_at: isoOrNull(night.endedAt),
});

const planView = ({ night, remarks, usage }: Plan): NightView['plan'] => ({
  acts: (night?.acts ?? []).map(actView),
  refused: remarks.map(({ asked, did }) => ({ asked, why: did })),
  calls: usage.calls,
  tokens: usage.promptTokens + usage.completionTokens,
});

const actView = (act: Act): ActView => ({
  ...toldAct(act),
  evidence: act.evidence.map(({ memoryId: id, text }) => ({ memory_id: id, memory: text })),
  decided_by: act.decidedBy,
});

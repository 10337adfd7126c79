import { Readable } from 'node:stream';
import { ErasureAccepted, ErasureList, ErasureView, ExportLine, OwnerParams } from '@slowwave/contracts';
import { type Erasure, exportOf, isoOf, isoOrNull, type Owner, requestErasure } from '@slowwave/engine';
import { IdParams, notFound, requireJustCome } from '@slowwave/http';
import { routesOf } from './deps.ts';

const route = routesOf('manage');

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

/** Erasing owners, and exporting a user. */
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
      return { results: open.filter((erasure) => erasure.tenant === tenant && !erasure.departed).map(viewOf) };
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
      return viewOf(erasure);
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
];

const viewOf = ({ id, state, counts, remains, requestedAt, erasedAt }: Erasure): ErasureView => ({
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

import { Readable } from 'node:stream';
import { ErasureAccepted, ErasureView, ExportLine, OwnerParams } from '@slowwave/contracts';
import { type Erasure, exportOf, isoOf, isoOrNull, type Owner, requestErasure, type TenantId } from '@slowwave/engine';
import { type App, IdParams, notFound, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

/** Erasing owners, and exporting a user. */
export function userRoutes(app: App, deps: ConsoleDeps): void {
  deleteOwner(app, deps);
  getErasure(app, deps);
  exportUser(app, deps);
}

interface Erasable {
  readonly kind: Owner['kind'];
  readonly operationId: string;
  readonly summary: string;
  /** What goes, and what names the owner and stays. */
  readonly about: string;
}

const ERASABLE: readonly Erasable[] = [
  {
    kind: 'user',
    operationId: 'eraseUser',
    summary: 'Erase a user',
    about:
      'Permanently erases everything a user said and everything derived from it, including batches and memories ' +
      'that also name an agent or run',
  },
  {
    kind: 'agent',
    operationId: 'eraseAgent',
    summary: 'Erase an agent',
    about:
      'Permanently erases everything posted for an agent without a user, and everything derived from it. Batches and memories of a user that name the agent belong to the user and stay unchanged, including the agent_id. Erased',
  },
  {
    kind: 'run',
    operationId: 'eraseRun',
    summary: 'Erase a run',
    about:
      'Permanently erases everything posted for a run without a user or agent, and everything derived from it. ' +
      'Batches and memories of a user or agent that name the run belong to them and stay unchanged, including the ' +
      'run_id. Erased',
  },
];

/** Whoever can own memories can be erased; an app only tells those of others apart. */
function deleteOwner(app: App, deps: ConsoleDeps): void {
  for (const one of ERASABLE) eraseRoute(app, deps, one);
}

function eraseRoute(app: App, deps: ConsoleDeps, { kind, operationId, summary, about }: Erasable): void {
  const schema = {
    operationId,
    tags: ['manage'],
    summary,
    description:
      `${about}: batches, messages, plans, memories, their history, and the owner's own id. What is posted for the same ` +
      'id later starts afresh. The erasure runs in the background; poll its status. Repeating the request while it ' +
      'runs returns the same erasure.',
    params: OwnerParams,
    response: { 202: ErasureAccepted },
  };
  app.delete(`/v1/${kind}s/:id`, { schema, config: { bounds: { by: kind, apps: false } } }, async (request, reply) => {
    const owner = { kind, id: request.params.id };
    const { id, state } = await requestErasure(deps, requestTenant(request) as TenantId, owner);
    const status_url = `/v1/erasures/${id}`;
    return reply.code(202).header('location', status_url).send({ erasure_id: id, state, status_url });
  });
}

const getErasureSchema = {
  operationId: 'getErasure',
  tags: ['manage'],
  summary: 'Get the progress of an erasure',
  params: IdParams,
  response: { 200: ErasureView },
};

function getErasure(app: App, { ledger }: ConsoleDeps): void {
  app.get('/v1/erasures/:id', { schema: getErasureSchema }, async (request) => {
    const { id } = request.params;
    const erasure = await ledger.erasures.get(requestTenant(request) as TenantId, id);
    if (erasure === null) throw notFound('erasure', id);
    return viewOf(erasure);
  });
}

const viewOf = ({ id, state, counts, remains, requestedAt, erasedAt }: Erasure): ErasureView => ({
  id,
  state,
  counts: { ...counts },
  remains: [...remains],
  requested_at: isoOf(requestedAt),
  erased_at: isoOrNull(erasedAt),
});

const exportUserSchema = {
  operationId: 'exportUser',
  tags: ['manage'],
  summary: 'Export all data of a user',
  description:
    'Returns one JSON object per line (application/x-ndjson), streamed: the user, batches, messages, memories with ' +
    'all versions, events, consolidations with plans and raw answers, reviews, summaries, and the graph ' +
    '(entities, relations, statements). The last line has the type "end" and the number of objects of each type; ' +
    'an export without it is incomplete.',
  params: OwnerParams,
  produces: ['application/x-ndjson'],
  response: {
    200: { description: 'The export', content: { 'application/x-ndjson': { schema: ExportLine } } },
  },
};

function exportUser(app: App, { ledger, tools, log }: ConsoleDeps): void {
  app.get(
    '/v1/users/:id/export',
    { schema: exportUserSchema, config: { bounds: { by: 'user', apps: false }, audited: true } },
    async (request, reply) => {
      const tenant = requestTenant(request) as TenantId;
      const userId = request.params.id;
      const lane = await ledger.lanes.find(tenant, { kind: 'user', id: userId });
      if (lane === null) throw notFound('user', userId);
      const stream = Readable.from(linesOf(exportOf({ ledger, tools }, { tenant, userId, lane: lane.id })));
      stream.on('error', (err) => log.warn({ err }, 'export aborted'));
      return reply.type('application/x-ndjson').send(stream as never);
    },
  );
}

async function* linesOf(parts: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`;
}

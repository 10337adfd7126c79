import { Readable } from 'node:stream';
import { ExportLine, OwnerParams } from '@slowwave/contracts';
import { exportOf, type TenantId } from '@slowwave/engine';
import { type App, type Bounds, notFound, requestTenant } from '@slowwave/http';
import type { ConsoleDeps } from './deps.ts';

const schema = {
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

const bounds: Bounds = { by: 'user', apps: false };

export function exportUser(app: App, { ledger, tools, log }: ConsoleDeps): void {
  app.get('/v1/users/:id/export', { schema, config: { bounds, audited: true } }, async (request, reply) => {
    const tenant = requestTenant(request) as TenantId;
    const userId = request.params.id;
    const lane = await ledger.lanes.find(tenant, { kind: 'user', id: userId });
    if (lane === null) throw notFound('user', userId);
    const stream = Readable.from(linesOf(exportOf({ ledger, tools }, { tenant, userId, lane: lane.id })));
    stream.on('error', (err) => log.warn({ err }, 'export aborted'));
    return reply.type('application/x-ndjson').send(stream as never);
  });
}

async function* linesOf(parts: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const part of parts) yield `${JSON.stringify(part)}\n`;
}

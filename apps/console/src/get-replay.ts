import { GetReplayQuery, ReplayView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import { type App, IdParams, requestTenant } from '@slowwave/http';
import { z } from 'zod';
import type { ConsoleDeps } from './deps.ts';
import { existingReplay, replayProgress } from './views/replay.ts';
import { replayText } from './views/replay-text.ts';

const schema = {
  operationId: 'getReplay',
  tags: ['manage'],
  summary: 'Get the progress of a replay and the result of a what-if',
  description: 'With format=text, returns a human-readable report as plain text.',
  params: IdParams,
  querystring: GetReplayQuery,
  response: {
    200: {
      description: 'The replay',
      content: { 'application/json': { schema: ReplayView }, 'text/plain': { schema: z.string() } },
    },
  },
};

export function getReplay(app: App, deps: ConsoleDeps): void {
  app.get('/v1/replays/:id', { schema }, async (request, reply) => {
    const replay = await existingReplay(deps, requestTenant(request) as TenantId, request.params.id);
    const view = await replayProgress(deps, replay);
    if (request.query.format === 'json') return view;
    return reply
      .type('text/plain; charset=utf-8')
      .serializer((text: unknown) => String(text))
      .send(replayText(view) as never);
  });
}
